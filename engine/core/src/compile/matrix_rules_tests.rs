use insta::assert_snapshot;

use crate::compile::testing::check;

fn matrix(matrix: &str) -> String {
    check(&format!("tasks:\n  a:\n    matrix: {matrix}\n    run: echo\n"))
}

#[test]
fn an_exclude_that_leaves_nothing_out_is_a_warning_with_what_there_is() {
    assert_snapshot!(matrix("{ os: [linux, mac], v: [1, 2], exclude: [{ os: windows, v: 1 }] }"), @r#"
    warning[W0202]: this `exclude` leaves nothing out: `os` is never "windows"
     --> plan.yaml:4:60
      |
    4 |     matrix: { os: [linux, mac], v: [1, 2], exclude: [{ os: windows, v: 1 }] }
      |                                                            ^^^^^^^
      |
      = help: it is one of `"linux"`, `"mac"`
    "#);
    // The same value of another type is no value of the axis.
    assert_snapshot!(matrix("{ py: ['3.10', '3.9'], exclude: [{ py: 3.9 }] }"), @r#"
    warning[W0202]: this `exclude` leaves nothing out: `py` is never 3.9
     --> plan.yaml:4:52
      |
    4 |     matrix: { py: ['3.10', '3.9'], exclude: [{ py: 3.9 }] }
      |                                                    ^^^
      |
      = help: quote it as the axis does: `"3.9"`
    "#);
    assert_snapshot!(matrix("{ v: [1, 2], exclude: [{ v: '2' }] }"), @r#"
    warning[W0202]: this `exclude` leaves nothing out: `v` is never "2"
     --> plan.yaml:4:41
      |
    4 |     matrix: { v: [1, 2], exclude: [{ v: '2' }] }
      |                                         ^^^
      |
      = help: take the quotes away: `2`
    "#);
    assert_eq!(matrix("{ os: [linux, mac], v: [1, 2], exclude: [{ os: mac }, { os: linux, v: 2 }] }"), "");
    // What only the run knows is not held against it.
    assert_eq!(matrix("{ os: [\"${{ git.branch }}\"], exclude: [{ os: mac }] }"), "");
}

#[test]
fn excludes_that_leave_nothing_are_a_warning() {
    assert!(matrix("{ os: [mac], exclude: [{ os: mac }] }").contains("`exclude` leaves no combination"));
}

#[test]
fn a_name_of_a_rule_that_no_axis_has_is_told() {
    assert!(matrix("{ os: [mac], exclude: [{ oss: mac }] }").contains("the matrix has no axis `oss`"));
    assert_eq!(matrix("{ os: [mac], include: [{ oss: mac }] }"), "", "a name that each row gets");
    // A name of its own, even one that begins as an axis does.
    assert_eq!(matrix("{ node: [18, 20], include: [{ node: 22, node_flags: x, extra: 1 }] }"), "");
}

#[test]
fn excludes_as_an_axis_is_a_warning_that_says_exclude() {
    assert_snapshot!(matrix("{ os: [mac, linux], excludes: [{ os: mac }] }"), @r"
    warning[W0202]: `excludes` is one more axis of this matrix
     --> plan.yaml:4:33
      |
    4 |     matrix: { os: [mac, linux], excludes: [{ os: mac }] }
      |                                 ^^^^^^^^
      |
      = help: did you mean `exclude`?
    ");
}

#[test]
fn a_name_that_some_rows_lack_wants_a_default_where_it_is_read() {
    let read = |hole: &str, more: &str| {
        check(&format!(
            "tasks:\n  a:\n    matrix: {{ os: [linux, mac], include: [{{ os: win, flag: x }}] }}\n{more}    \
             run: echo ${{{{ {hole} }}}}\n"
        ))
    };
    assert_snapshot!(read("matrix.flag", ""), @r"
    warning[W0301]: `matrix.flag` is null in `a[linux]`, whose row doesn't say it
     --> plan.yaml:5:19
      |
    5 |     run: echo ${{ matrix.flag }}
      |                   ^^^^^^^^^^^
      |
      = help: write `matrix.flag | default(...)`, or say it in every row
    ");
    assert_eq!(read("matrix.flag | default('')", ""), "");
    assert_eq!(read("matrix.flag or 'none'", ""), "");
    assert_eq!(read("matrix.os", "    if: matrix.flag == 'x'\n"), "");
}
