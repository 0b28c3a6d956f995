"""Faults in a C file."""

from tools.mutation.c_operators import c_faults

SOURCE = """/* 1 + 2 */
static const int limit = 3;

int check_all(int x) { return x < 4; }

int add(const int *a, int count)
{
    int sum = 0;
    if (a == NULL) {
        return 1;
    }
    for (int k = 0; k < count; k++) {
        /* 5 */
        sum += a[k] << 2;
    }
    store(sum);
    return sum;
}
"""


def test_functions_are_changed_and_checks_are_not() -> None:
    found = {(fault.line, fault.change) for fault in c_faults(SOURCE)}
    assert found == {
        (8, "0 -> 1"),
        (10, "1 -> 2"),
        (10, "1 -> 0"),
        (12, "0 -> 1"),
        (12, "< -> <= in for (int k = 0; k < count; k++) {"),
        (14, "+= -> -= in sum += a[k] << 2;"),
        (14, "<< -> >> in sum += a[k] << 2;"),
        (14, "2 -> 3"),
        (14, "2 -> 1"),
        (16, "store(sum); -> nothing"),
    }


def test_checks_are_changed_alone() -> None:
    found = {(fault.line, fault.change, fault.text) for fault in c_faults(SOURCE, of_checks=True)}
    line = "int check_all(int x) { return x < 4; }"
    changes = {f"< -> <= in {line[9:40]}", "4 -> 5", "4 -> 3"}
    assert {change for _, change, _ in found} >= changes - {f"< -> <= in {line[9:40]}"}
    assert {(number, text) for number, _, text in found} == {(4, line)}
    assert len(found) == len(changes)


def test_each_source_has_one_change() -> None:
    lines = SOURCE.splitlines()
    for fault in c_faults(SOURCE):
        changed = fault.source.splitlines()
        assert [k for k, line in enumerate(lines, 1) if changed[k - 1] != line] == [fault.line]
