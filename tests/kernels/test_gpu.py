"""The GPU engine, run by torch on the processor, beside the CPU engine and the slow twins."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import mvdfq
from commands import run
from mvdfq._engines import choice
from mvdfq._engines.choice import current_engine
from naive import kernels as naive

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:.*No known word"),
    pytest.mark.filterwarnings("ignore:.*not positive semi-definite"),
    pytest.mark.filterwarnings("ignore:.*No word has a weight"),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    # Torch's threads would compete with the other process that runs tests.
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def card():
    return mvdfq.use_engine("gpu", device="cpu")


def collection(n_symbols, seed=0, n=14, n_rows=2, longest=40, missing=0.0):
    """Rows of symbols that often repeat; some sequences are empty or shorter than a word."""
    random = np.random.default_rng(seed)
    lengths = [0, 1, 2, *random.integers(3, longest, n - 3)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    steps = random.random((n_rows, offsets[-1])) < 0.4
    data = random.integers(0, n_symbols, (n_rows, offsets[-1])).astype(np.uint8)
    for t in range(1, offsets[-1]):
        data[:, t] = np.where(steps[:, t], data[:, t], data[:, t - 1])
    data[random.random(data.shape) < missing] = 255
    return mvdfq.Symbols(data, offsets, n_symbols=np.full(n_rows, n_symbols))


KERNELS = [
    mvdfq.Spectrum(3),
    mvdfq.Spectrum([1, 6], dilation=2),
    mvdfq.Spatial(3, 1, 2),
    mvdfq.Gapped(4, 2),
    mvdfq.Gappy(4, 2),
    mvdfq.Gappy(4, 2, distinct=False),
    mvdfq.Wildcard(4, 1, decay=0.5),
    mvdfq.Words([(0,), (0, 1), (0, 2, 5)], weights=[0.01, 1, 2]),
    mvdfq.Mismatch(4, 1),
    mvdfq.Mismatch(2, 1),
    mvdfq.MismatchPairs(3, 1),
    mvdfq.Subsequence(2, max_span=4),  # the processor counts these words
    mvdfq.Subsequence(2),
]
OPTIONS = [
    {},
    {"manifold": True, "pyramid": 2},
    {"manifold": True, "row_norm": "cosine"},
    {"pyramid": 3},
]


def both(kernel, options, train, new):
    """Kernel matrices of the CPU engine and of the GPU engine."""
    made = []
    for engine in (mvdfq.use_engine("cpu"), card()):
        with engine:
            fitted = mvdfq.SequenceKernel(kernel, normalize=False, **options).fit(train)
            made.append([fitted.compare(fitted.train_, None)[0], fitted.transform(new)])
    return zip(*made, strict=True)


# every kernel raw and in one other way
CASES = [(kernel, {}) for kernel in KERNELS]
CASES += [(k, OPTIONS[1 + i % 3]) for i, k in enumerate(KERNELS) if k.has_features]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "options"), CASES, ids=str)
def test_kernel_matrices_equal_those_of_the_processor(kernel, options):
    large = 12 if isinstance(kernel, mvdfq.Mismatch) else 40
    for n_symbols, missing in [(4, 0.1), (large, 0.0)]:
        train, new = collection(n_symbols, missing=missing), collection(n_symbols, 1, n=6)
        for expected, found in both(kernel, options, train, new):
            if not options and not isinstance(kernel, mvdfq.Words | mvdfq.Wildcard):
                assert_array_equal(found, expected)
            assert_allclose(found, expected, rtol=2e-6, atol=1e-6 * np.abs(expected).max())


def test_counts_equal_the_slow_twin():
    words = ["ABABBA", "BBAB", "AAAA"]
    with card():
        K = mvdfq.SequenceKernel(mvdfq.Spectrum(2), normalize=False).fit_transform(words)
    for i, x in enumerate(words):
        for j, y in enumerate(words):
            counts = [{} for _ in range(2)]
            for count, letters in zip(counts, (x, y), strict=True):
                for _, word in naive.read(list(letters), (0, 1)):
                    count[word] = count.get(word, 0) + 1
            assert K[i, j] == sum(counts[0][w] * counts[1].get(w, 0) for w in counts[0])


def test_symbols_first_seen_after_fit_count_in_the_norm():
    train, new = ["ABAB", "BBAB"], ["ABC", "CCC"]
    kernel = mvdfq.SequenceKernel(mvdfq.Spectrum(2), manifold=True).fit(train)
    expected = kernel.transform(new)
    with card():
        assert_allclose(kernel.transform(new), expected, atol=1e-7)


@pytest.mark.parametrize("length", [5000, 3000, 100])
def test_whole_numbers_stay_exact(length):
    # 5000 squared is beyond single precision; 3000 beyond half precision
    X = [np.zeros(length, int), np.arange(length) // 2 % 3, np.arange(length) % 7]
    for k in (1, 5):
        kernel = mvdfq.SequenceKernel(mvdfq.Spectrum(k), normalize=False, n_symbols=9)
        expected = kernel.fit_transform(X)
        with card():
            assert_array_equal(kernel.fit_transform(X), expected)


def test_numbers_beyond_doubles_are_left_to_the_processor():
    X = collection(250, n_rows=1)
    kernel = mvdfq.SequenceKernel(mvdfq.Mismatch(7, 6), normalize=False).fit(X)
    expected = kernel.compare(kernel.train_, None)[0]
    assert np.abs(expected).max() > 2**53
    with card():
        assert_array_equal(kernel.compare(kernel.train_, None)[0], expected)


def test_little_memory_makes_tiles():
    X, new = collection(5, n=12, n_rows=1), collection(5, 1, n=9, n_rows=1)
    for kernel, root in [(mvdfq.Spectrum(3), True), (mvdfq.Spectrum(6), False)]:
        kernels = [
            mvdfq.SequenceKernel(kernel, manifold=root, memory_limit=limit)
            for limit in (None, 12_000)
        ]
        with card():
            whole, tiled = ((k.fit_transform(X), k.transform(new)) for k in kernels)
        for a, b in zip(whole, tiled, strict=True):
            assert_allclose(a, b, atol=1e-7)


@pytest.fixture
def halves(monkeypatch):
    """Products of halves as a card makes them."""
    from mvdfq._engines.gpu import products as module

    def product(left, right):
        assert left.dtype == right.dtype == torch.float16
        return torch.bmm(left.float().transpose(1, 2), right.float())

    monkeypatch.setattr(module, "has_half_products", lambda device: True)
    monkeypatch.setattr(module, "half_products", product)
    monkeypatch.setattr(module, "HALF_COLUMNS", 16)


def test_two_halves_make_a_single(halves):
    train, new = collection(4), collection(4, 1, n=6)
    for kernel in (mvdfq.Spectrum(2), mvdfq.Spectrum(6)):
        for expected, found in both(kernel, {"manifold": True}, train, new):
            assert_allclose(found, expected, atol=3e-7 * expected.max())
        for expected, found in both(kernel, {}, train, new):
            assert_array_equal(found, expected)


@pytest.mark.parametrize("options", OPTIONS[:3], ids=str)
def test_features_equal_those_of_the_processor(options):
    train, new = collection(5, missing=0.05), collection(5, 1, n=6)
    for kernel in (mvdfq.Spectrum([1, 3]), mvdfq.Gappy(4, 2), mvdfq.Mismatch(3, 1)):
        made = []
        for engine in (mvdfq.use_engine("cpu"), card()):
            with engine:
                features = mvdfq.SequenceFeatures(kernel, **options).fit(train)
                made.append((features.transform(train), features.transform(new)))
        for expected, found in zip(*made, strict=True):
            assert_array_equal(found.indices, expected.indices)
            assert_allclose(found.data, expected.data, rtol=1e-6)


def sequences(dtype=np.float32, n_channels=3, missing=0.0):
    random = np.random.default_rng(0)
    X = [np.cumsum(random.normal(size=(n_channels, n)), 1) for n in (1, 2, 3, 9, 60, 45, 80, 70)]
    for x in X:
        x[random.random(x.shape) < missing] = np.nan
    return [x.astype(dtype) for x in X]


TRANSFORMERS = [
    mvdfq.Smooth(9),
    mvdfq.Delta(),
    mvdfq.Standardize(),
    mvdfq.Rotate(deltas=True),
    mvdfq.Filters([1, 3]),
    mvdfq.DirectQuantizer(6),
    mvdfq.DirectQuantizer(300, strategy="uniform"),
    mvdfq.JointQuantizer(n_bins=3),
    mvdfq.ThresholdQuantizer(3),
    make_pipeline(mvdfq.Delta(), mvdfq.Standardize(), mvdfq.Rotate(), mvdfq.DirectQuantizer(6)),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:.*lie outside the range")
def test_frames_and_symbols_are_the_same_bits(transformer, dtype):
    for missing in (0.0, 0.1):
        X = sequences(dtype, missing=missing)
        fitted = clone(transformer).fit(X)
        expected = fitted.transform(X)
        with card():
            found, learned = fitted.transform(X), clone(transformer).fit(X).transform(X)
        assert found.data.dtype == expected.data.dtype
        assert_array_equal(found.data, expected.data)
        # what is learned by long sums differs by rounding, which changes no symbol
        exact = 0 if isinstance(expected, mvdfq.Symbols) else 1e-9
        assert_allclose(learned.data, expected.data, rtol=exact, atol=exact)


def test_repeated_and_missing_values_are_cut_alike():
    X = [np.array([[0, 0, 0, 1, 1, 2.0], [5, 5, 5, 5, 5, 5], [np.nan] * 5 + [1.0]])]
    for quantizer in (mvdfq.DirectQuantizer(3), mvdfq.ThresholdQuantizer(3)):
        expected = clone(quantizer).fit_transform(X)
        with card():
            assert_array_equal(clone(quantizer).fit_transform(X).data, expected.data)


def test_values_stay_on_the_card_until_they_are_read():
    with card():
        found = mvdfq.Smooth(3).fit_transform(sequences())
        codes = mvdfq.DirectQuantizer(4).fit_transform(found)
        assert isinstance(codes.rows(slice(2)).held, torch.Tensor)
        assert "data" not in found.__dict__
        assert "data" not in codes.__dict__
    assert isinstance(found.held, np.ndarray)
    again = pickle.loads(pickle.dumps(codes))
    assert_array_equal(again.data, codes.data)
    assert not any(isinstance(value, torch.Tensor) for value in again.__dict__.values())


@pytest.mark.parametrize("dilation", [1, 7])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_words_of_filters_are_the_same(dilation, missing):
    from mvdfq.terms.filters import filter_encoder, filter_shares

    X = mvdfq.check_sequences(sequences(missing=missing))
    encoder = filter_encoder(dilation, 7, 0).fit(X)
    expected = filter_shares(encoder, X)
    with card():
        found = filter_shares(encoder, X)
    assert_allclose(choice.on_host(found), expected, atol=1e-7)


@pytest.fixture(scope="module")
def vowels():
    X, y = mvdfq.load_japanese_vowels(split="train")
    return list(X)[::9], np.asarray(y)[::9]


@pytest.mark.slow
@pytest.mark.parametrize("preset", [None, "music", "mvdfqm-sssk", "mvdfq-spectrum"])
def test_classifiers_agree(vowels, preset):
    X, y = vowels
    expected = mvdfq.SequenceClassifier(preset, C=10).fit(X, y)
    with card():
        found = mvdfq.SequenceClassifier(preset, C=10).fit(X, y)
        assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-5)
        # also on a machine without a card
    assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-5)


def test_similar_sequences_are_found_on_the_card(vowels):
    X, y = vowels
    model = mvdfq.SequenceClassifier(C=10).fit(X, y)
    expected = model.neighbours(X[1], 3)
    with card():
        found = model.neighbours(X[1], 3)
    assert [one.index for one in found] == [one.index for one in expected]


def test_model_files_do_not_keep_the_engine(vowels, tmp_path):
    X, y = vowels
    model = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10, engine="cpu").fit(X, y)
    assert clone(model).engine == "cpu"
    model.save(tmp_path / "model.mvdfq")
    assert mvdfq.load(tmp_path / "model.mvdfq").engine is None


def test_the_innermost_engine_counts():
    assert current_engine().name == "cpu"
    with card() as outer, mvdfq.use_engine("cpu"):
        assert current_engine().name == "cpu"
        with mvdfq.use_engine(None) as inner:
            assert inner.name == "cpu"
        assert outer.name == "gpu"
    with mvdfq.use_engine("tcp://10.0.0.1:8786") as engine:
        assert (engine.name, engine.client) == ("dask", "tcp://10.0.0.1:8786")
    assert current_engine().name == "cpu"


def test_the_parameter_beats_the_context(monkeypatch):
    seen = []
    monkeypatch.setattr("mvdfq.gram.gram_on_gpu.gpu_gram", lambda *_: seen.append(1))
    with card():
        mvdfq.SequenceKernel(mvdfq.Spectrum(1), engine="cpu").fit_transform(["AB", "BA"])
    assert not seen


@pytest.mark.parametrize(
    ("engine", "error", "message"),
    [
        ("cuda", ValueError, "engine must be one of .* got 'cuda'"),
        (object(), TypeError, r"got object; pass a client to mvdfq.use_engine\(client\)"),
    ],
)
def test_engines_are_checked(engine, error, message):
    with pytest.raises(error, match=message):
        mvdfq.SequenceKernel(engine=engine).fit_transform(["AB", "BA"])


def test_a_missing_card_is_named(monkeypatch):
    monkeypatch.setattr(choice, "card_name", lambda device: "")
    with pytest.raises(RuntimeError, match=r"needs a graphics card .* or pass engine='cpu'"):
        mvdfq.SequenceKernel(engine="gpu").fit_transform(["AB", "BA"])
    with mvdfq.use_engine("auto") as engine:
        assert engine.name == "cpu"
    monkeypatch.setattr(choice, "_torch", lambda: None)
    with pytest.raises(ImportError, match=r"pip install 'mvdfq\[gpu\]'; or pass engine='cpu'"):
        mvdfq.SequenceKernel(engine="gpu").fit_transform(["AB", "BA"])


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_card_agrees_with_the_processor(kernel):
    X, new = collection(20, n=60, longest=200), collection(20, 1, n=9)
    for root in (False, True):
        if root and not kernel.has_features:
            continue
        made = []
        for engine in ("cpu", "gpu"):
            one = mvdfq.SequenceKernel(kernel, manifold=root, normalize=False, engine=engine)
            made.append((one.fit_transform(X), one.transform(new)))
        for expected, found in zip(*made, strict=True):
            if not root and not isinstance(kernel, mvdfq.Words | mvdfq.Wildcard):
                assert_array_equal(found, expected)
            assert_allclose(found, expected, rtol=2e-6, atol=2e-6 * expected.max())


@pytest.mark.gpu
def test_fused_kernels_do_what_plain_torch_does(monkeypatch):
    from mvdfq._engines.gpu import fused
    from mvdfq.terms.filters import filter_encoder, filter_shares

    X = mvdfq.check_sequences(sequences())
    codes, encoder = collection(8, n=60, longest=200), filter_encoder(4, 7, 0).fit(X)

    def results():
        kernels = (mvdfq.Spectrum(6), mvdfq.Spatial(3, 1, 2))
        yield from (mvdfq.SequenceKernel(k, manifold=True).fit_transform(codes) for k in kernels)
        yield filter_shares(encoder, X).cpu().numpy()
        yield mvdfq.Filters([1, 3]).fit_transform(X).data

    with mvdfq.use_engine("gpu"):
        found = list(results())
        monkeypatch.setattr(fused, "has_triton", lambda device: False)
        for fast, plain in zip(found, results(), strict=True):
            assert_allclose(fast, plain, atol=1e-6)


def test_commands_take_an_engine(monkeypatch, tmp_path):
    lines = ["@problemname small", "@univariate true", "@classLabel true a b", "@data"]
    lines += [
        f"{'1,2,3,2,1,2,3,1' if i % 2 else '3,3,1,1,3,3,1,2'}:{'ab'[i % 2]}" for i in range(8)
    ]
    data = tmp_path / "small.ts"
    data.write_text("\n".join(lines))
    choose = choice.use_engine
    monkeypatch.setattr(choice, "use_engine", lambda name: choose(name, device="cpu"))
    matrices = []
    for engine in ("cpu", "gpu"):
        output = tmp_path / f"{engine}.npy"
        run("gram", data, "-o", output, "--kernel", "spectrum", "--engine", engine, "-q")
        matrices.append(np.load(output))
    assert_allclose(matrices[0], matrices[1], atol=1e-6)
    monkeypatch.setattr(choice, "use_engine", choose)
    monkeypatch.setattr(choice, "card_name", lambda device="cuda": "")
    _, said = run("gram", data, "-o", output, "--engine", "gpu", "-q", code=5)
    assert "--engine gpu needs a graphics card" in said.replace("\n", " ")
    assert "torch finds no graphics card" in run("doctor")[0]


def test_a_tensor_is_refused_without_a_card_and_checked_on_it():
    values, offsets = torch.zeros((2, 3)), np.array([0, 3])
    with pytest.raises(TypeError, match="data must be a plain NumPy array, got Tensor"):
        mvdfq.Sequences(values, offsets)
    with card():
        assert mvdfq.Sequences(values, offsets).data.shape == (2, 3)
        with pytest.raises(ValueError, match="offsets must run from 0 to the number of frames"):
            mvdfq.Sequences(values, np.array([0, 9]))
        with pytest.raises(ValueError, match="data must be a 2-D array"):
            mvdfq.Sequences(values.long(), offsets)
