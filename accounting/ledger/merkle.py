"""The RFC 6962 Merkle tree over entries: leaf and node hashes, roots, inclusion and consistency proofs."""

import hashlib
from collections.abc import Sequence

EMPTY_ROOT = hashlib.sha256(b"").digest()
"""The root of a tree without entries."""


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of an entry as a leaf: SHA-256 of a zero byte and the entry."""
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256 of a one byte and both children."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the root of a tree with these leaf hashes (RFC 6962, section 2.1)."""
    if not leaves:
        return EMPTY_ROOT
    peaks: list[tuple[int, bytes]] = []
    for leaf in leaves:
        height, node = 0, leaf
        while peaks and peaks[-1][0] == height:
            node = node_hash(peaks.pop()[1], node)
            height += 1
        peaks.append((height, node))
    root = peaks.pop()[1]
    while peaks:
        root = node_hash(peaks.pop()[1], root)
    return root
