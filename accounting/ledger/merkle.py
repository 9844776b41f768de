"""The RFC 6962 Merkle tree over entries: hashes, roots, inclusion and consistency proofs, and their checks.

Hashes of complete subtrees never change, so a store keeps each once, in the order in which they become complete: after
leaf i the leaf itself, then every subtree that it completes. ``place`` finds them; a tree is read through a function.
"""

import hashlib
from collections.abc import Callable, Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of a tree without entries."""

Reader = Callable[[int], bytes]
"""Gives the stored hash at a place."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of an entry as a leaf: SHA-256 of a zero byte and the entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256 of a one byte and both children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def place(height: int, index: int) -> int:
    """Return the place at which the complete subtree of 2^height leaves with this index is stored."""
    last_leaf = ((index + 1) << height) - 1
    return stored(last_leaf) + height


def stored(size: int) -> int:
    """Return how many hashes a tree of this many leaves has stored."""
    return 2 * size - size.bit_count()


def completed(size: int, leaf: bytes, read: Reader) -> list[bytes]:
    """Return the hashes that a new leaf completes in a tree that had ``size`` leaves: its own first."""
    hashes = [leaf]
    height = 0
    while (size >> height) & 1:
        hashes.append(node_hash(read(place(height, (size >> height) - 1)), hashes[-1]))
        height += 1
    return hashes


def root_hash(size: int, read: Reader) -> bytes:
    """Return the root of the tree of the first ``size`` leaves (RFC 6962, section 2.1)."""
    return _range_hash(0, size, read) if size else EMPTY_ROOT


def inclusion_proof(index: int, size: int, read: Reader) -> list[bytes]:
    """Return the audit path of a leaf in the tree of the first ``size`` leaves (RFC 6962, section 2.1.1).

    Raises:
        ValueError: there is no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError("the leaf is outside the tree")
    path: list[bytes] = []
    start, stop = 0, size
    while stop - start > 1:
        middle = start + _split(stop - start)
        if index < middle:
            path.append(_range_hash(middle, stop, read))
            stop = middle
        else:
            path.append(_range_hash(start, middle, read))
            start = middle
    return path[::-1]


def consistency_proof(old: int, new: int, read: Reader) -> list[bytes]:
    """Return the proof that a tree of ``old`` leaves is the beginning of one of ``new`` (RFC 6962, section 2.1.2).

    Raises:
        ValueError: the old tree is empty or larger than the new one.
    """
    if not 0 < old <= new:
        raise ValueError("consistency is between a tree that is not empty and one at least as large")
    proof: list[bytes] = []
    start, stop, whole = 0, new, True
    while stop != old:
        middle = start + _split(stop - start)
        if old <= middle:
            proof.append(_range_hash(middle, stop, read))
            stop = middle
        else:
            proof.append(_range_hash(start, middle, read))
            start, whole = middle, False
    if not whole:
        proof.append(_range_hash(start, stop, read))
    return proof[::-1]


def includes(root: bytes, size: int, index: int, leaf: bytes, proof: Sequence[bytes]) -> bool:
    """Check an inclusion proof against a root (RFC 9162, section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, current = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if node & 1 or node == last:
            current = node_hash(sibling, current)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            current = node_hash(current, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and current == root


def is_consistent(old_root: bytes, old: int, new_root: bytes, new: int, proof: Sequence[bytes]) -> bool:
    """Check a consistency proof between two roots (RFC 9162, section 2.1.4.2)."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not proof and old_root == new_root
    hashes = list(proof)
    if old & (old - 1) == 0:
        hashes.insert(0, old_root)
    if not hashes:
        return False
    node, last = old - 1, new - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old_hash = new_hash = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            old_hash = node_hash(sibling, old_hash)
            new_hash = node_hash(sibling, new_hash)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new_hash = node_hash(new_hash, sibling)
        node, last = node >> 1, last >> 1
    return last == 0 and old_hash == old_root and new_hash == new_root


def _split(count: int) -> int:
    return 1 << (count - 1).bit_length() - 1


def _range_hash(start: int, stop: int, read: Reader) -> bytes:
    count = stop - start
    if count & (count - 1) == 0:
        height = count.bit_length() - 1
        return read(place(height, start >> height))
    middle = start + _split(count)
    return node_hash(_range_hash(start, middle, read), _range_hash(middle, stop, read))
