"""The helper that chooses which combinations of options are tested."""

from itertools import combinations, product

from cases import pairwise

KERNELS, OPTIONS, NAMES = range(7), "abcd", ["x", "y", "z"]


def chosen(cases):
    return [case.values for case in cases if not case.marks]


def pairs(cases):
    return {pair for case in cases for pair in combinations(enumerate(case), 2)}


def test_every_pair_of_values_is_chosen():
    cases = pairwise(KERNELS, OPTIONS, NAMES)
    assert [case.values for case in cases] == list(product(KERNELS, OPTIONS, NAMES))
    assert pairs(chosen(cases)) == pairs(product(KERNELS, OPTIONS, NAMES))


def test_few_cases_are_chosen():
    # No fewer than 28 can hold all pairs of the two largest factors.
    assert 28 <= len(chosen(pairwise(KERNELS, OPTIONS, NAMES))) <= 34


def test_other_cases_are_marked_long():
    marked = [case for case in pairwise(KERNELS, OPTIONS, NAMES) if case.marks]
    assert {mark.name for case in marked for mark in case.marks} == {"long"}


def test_cases_that_are_not_valid_are_left_out():
    def valid(kernel, option, name):
        return kernel > 2 or option != "a"

    cases = pairwise(KERNELS, OPTIONS, NAMES, valid=valid)
    left = [case for case in product(KERNELS, OPTIONS, NAMES) if valid(*case)]
    assert [case.values for case in cases] == left
    assert pairs(chosen(cases)) == pairs(left)


def test_two_factors_are_the_whole_product():
    assert len(chosen(pairwise(KERNELS, OPTIONS))) == 28
