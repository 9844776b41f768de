"""Models: marginals on demand, saving and loading."""

import json

import numpy as np
import pytest

from accounting.errors import ConfigError
from mechanisms.pgm import Domain, Measurement, Model, estimate

DOMAIN = Domain(("a", "b", "c"), (3, 4, 2))
ZEROS = {("b", "a"): np.arange(12).reshape(4, 3) == 5}


@pytest.fixture
def model() -> Model:
    rng = np.random.default_rng(0)
    given = [Measurement(c, rng.normal(40, 9, DOMAIN.shape(c)), 9.0) for c in (("a", "b"), ("c", "b"), ("a",))]
    return estimate(DOMAIN, given, zeros=ZEROS, structure=[("a", "c")])


def test_the_empty_marginal_is_the_total(model):
    assert model.marginal(()).shape == ()
    assert float(model.marginal(())) == pytest.approx(model.total)


def test_a_clique_with_a_repeated_or_unknown_attribute_is_refused(model):
    with pytest.raises(ConfigError, match="twice"):
        model.marginal(("a", "a"))
    with pytest.raises(ConfigError, match="not in the domain"):
        model.marginal(("a", "x"))


@pytest.mark.parametrize("rows", [-1, True])
def test_a_wrong_number_of_rows_is_refused(model, rows):
    with pytest.raises(ConfigError, match="number of rows"):
        model.sample(rows, np.random.default_rng(0))


def test_a_saved_model_comes_back_bit_for_bit(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    assert (loaded.domain, loaded.cliques, loaded.total) == (model.domain, model.cliques, model.total)
    assert (loaded.converged, loaded.passes, loaded.loss) == (model.converged, model.passes, model.loss)
    for clique in (("a", "b"), ("c", "a"), ("a", "b", "c")):
        np.testing.assert_array_equal(loaded.marginal(clique), model.marginal(clique))
    for name, column in loaded.sample(200, np.random.default_rng(1)).items():
        np.testing.assert_array_equal(column, model.sample(200, np.random.default_rng(1))[name])
    assert (loaded.marginal(("b", "a"))[ZEROS["b", "a"]] == 0).all()


def test_saving_twice_gives_the_same_bytes(model, tmp_path):
    for name in ("one", "two"):
        model.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_loaded_model_can_start_a_fit(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    for clique, table in model.potentials.items():
        np.testing.assert_array_equal(loaded.potentials[clique], table)


def rewritten(path, **changes):
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    described = json.loads(bytes(arrays["model"]).decode()) | changes
    arrays["model"] = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    np.savez(path, allow_pickle=False, **arrays)


@pytest.mark.parametrize(
    "changes",
    [{"format": 99}, {"attributes": ["a", "b", "x"]}, {"sizes": [3, 4, 9]}, {"sizes": [0, 4, 2]}, {"measured": 7}],
)
def test_a_file_that_is_not_this_model_is_refused(model, tmp_path, changes):
    path = tmp_path / "model.npz"
    model.save(path)
    rewritten(path, **changes)
    with pytest.raises(ConfigError):
        Model.load(path)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x80\x04N."])
def test_any_other_file_is_refused(tmp_path, content):
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="saved model"):
        Model.load(path)


def test_a_pickled_array_is_never_loaded(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, model=np.array([{"format": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ConfigError, match="saved model"):
        Model.load(path)
