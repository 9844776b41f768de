"""The Merkle tree against published vectors, against the recursive definition, and against another implementation."""

import pymerkle
import pytest

from accounting.ledger.merkle import (
    EMPTY_ROOT,
    completed,
    consistency_proof,
    includes,
    inclusion_proof,
    is_consistent,
    leaf_hash,
    node_hash,
    place,
    root_hash,
    stored,
)

# The eight test entries, and the roots of their trees, of the reference implementation of Certificate Transparency.
ENTRIES = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657")]
ENTRIES.append(bytes.fromhex("606162636465666768696a6b6c6d6e6f"))
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
# Published audit paths of that implementation: leaf, size, path.
PATHS = [
    (
        0,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
]
# And its consistency proofs: old size, new size, proof.
CONSISTENCY = [
    (
        6,
        8,
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (
        2,
        5,
        [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]


def grow(entries):
    hashes = []
    for size, entry in enumerate(entries):
        hashes += completed(size, leaf_hash(entry), hashes.__getitem__)
    return hashes


def naive_root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while 2 * split < len(leaves):
        split *= 2
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def test_published_vectors():
    hashes = grow(ENTRIES)
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert root_hash(0, hashes.__getitem__) == EMPTY_ROOT
    assert [root_hash(size, hashes.__getitem__).hex() for size in range(1, 9)] == ROOTS
    for leaf, size, path in PATHS:
        assert [found.hex() for found in inclusion_proof(leaf, size, hashes.__getitem__)] == path
    for old, new, proof in CONSISTENCY:
        assert [found.hex() for found in consistency_proof(old, new, hashes.__getitem__)] == proof


def test_every_tree_up_to_fifty_entries():
    entries = [str(number).encode() for number in range(50)]
    leaves = [leaf_hash(entry) for entry in entries]
    read = grow(entries).__getitem__
    roots = {size: root_hash(size, read) for size in range(51)}
    for size in range(1, 51):
        assert roots[size] == naive_root(leaves[:size])
        for index in range(size):
            proof = inclusion_proof(index, size, read)
            assert len(proof) <= (size - 1).bit_length()
            assert includes(roots[size], size, index, leaves[index], proof)
            assert not includes(roots[size], size, index, leaf_hash(b"other"), proof)
            assert not includes(roots[size], size, index, leaves[index], [*proof, leaves[0]])
            assert not includes(roots[size - 1], size, index, leaves[index], proof)
            if proof:
                assert not includes(roots[size], size, index, leaves[index], proof[1:])
                assert not includes(roots[size], size, index, leaves[index], proof[:-1])
        for old in range(1, size + 1):
            proof = consistency_proof(old, size, read)
            assert is_consistent(roots[old], old, roots[size], size, proof)
            assert not is_consistent(leaves[0][::-1], old, roots[size], size, proof)
            assert not is_consistent(roots[old], old, leaves[0][::-1], size, proof)
            assert not is_consistent(roots[old], old, roots[size], size, [*proof, leaves[0]])
            if proof:
                assert not is_consistent(roots[old], old, roots[size], size, proof[:-1])


def test_proofs_outside_a_tree_are_refused():
    read = grow(ENTRIES).__getitem__
    root = root_hash(8, read)
    for index, size in ((8, 8), (-1, 8), (0, 0)):
        with pytest.raises(ValueError, match="outside"):
            inclusion_proof(index, size, read)
        assert not includes(root, size, index, leaf_hash(b""), [])
    for old, new in ((0, 8), (9, 8)):
        with pytest.raises(ValueError, match="consistency"):
            consistency_proof(old, new, read)
        assert not is_consistent(root, old, root, new, [])
    assert not is_consistent(root, 3, root, 8, [])
    assert not is_consistent(root_hash(4, read), 4, root, 8, [])


def test_hashes_are_stored_in_the_order_in_which_they_become_complete():
    assert [stored(size) for size in range(9)] == [0, 1, 3, 4, 7, 8, 10, 11, 15]
    places = {place(height, index) for height in range(4) for index in range(8 >> height)}
    assert places == set(range(15))
    assert len(grow(ENTRIES)) == 15


def test_another_implementation_agrees():
    entries = [b"entry %d" % number for number in range(40)]
    other = pymerkle.InmemoryTree(algorithm="sha256")
    for entry in entries:
        other.append_entry(entry)
    read = grow(entries).__getitem__
    for size in range(1, 41):
        assert other.get_root(size) == root_hash(size, read)
        for index in range(size):
            theirs = other.prove_inclusion(index + 1, size)
            leaf = leaf_hash(entries[index])
            pymerkle.verify_inclusion(leaf, root_hash(size, read), theirs)
            path = [bytes.fromhex(text) for text in theirs.serialize()["path"]]
            assert sorted(path) == sorted([leaf, *inclusion_proof(index, size, read)])
        for old in range(1, size):
            proof = other.prove_consistency(old, size)
            pymerkle.verify_consistency(root_hash(old, read), root_hash(size, read), proof, old, size)
