use super::*;

#[test]
fn markdown_is_read_as_markdown() {
    let text = "# Findings\n\nAll is **well**, but:\nsee `Vec<u8>`\n\n- a.py:3 an empty token\n  ```py\n  x = 1\n    y <b>\n  ```\nEnd";
    insta::assert_snapshot!(block(text), @r"
    > # Findings
    >
    > All is **well**, but:  
    > see `Vec<u8>`
    >
    > - a.py:3 an empty token
    > ```py
    > x = 1
    >   y <b>
    > ```
    > End
    ");
}

#[test]
fn nothing_leaves_a_quote_and_nothing_in_it_loads_or_calls() {
    let text =
        "- <img src=x> </details> a < b ![x](http://h) @you a@b `<i> @me`\n[x]: http://h \"t\"\n<!-- c\n";
    insta::assert_snapshot!(block(text), @r#"
    > - \<img src=x> \</details> a < b \![x](http://h) &#64;you a@b `<i> @me`
    > \[x]: http://h "t"  
    > \<!-- c
    "#);
}

#[test]
fn code_that_is_not_surely_code_is_guarded() {
    let cases = [
        // A span that goes on in the next line turns what is code there.
        ("**a** b ` c\nd ` <i> ` e", "> **a** b ` c  \n> d ` \\<i> ` e"),
        // A bar ends a cell and what began in it.
        ("| a ` b | <i> ` c |", "> | a ` b | \\<i> ` c |"),
        // A link takes backslashes and backticks in.
        ("**a** http://b`<i>` \\<i>", "> **a** http://b`&lt;i>` &lt;i>"),
        ("**a** http://b<i>", "> **a** http://b&lt;i>"),
        ("**a**\n\\` <i> `", "> **a**  \n> \\` \\<i> `"),
        ("**a** `` a ` <i> `` <i>", "> **a** `` a ` <i> `` \\<i>"),
    ];
    for (text, expected) in cases {
        assert_eq!(block(text), expected, "{text}");
    }
}

#[test]
fn a_fence_stands_at_the_margin_and_is_closed() {
    assert_eq!(block("- a\n  ```rs\n  <b>\n c\n```` \n<b>"), "> - a\n> ```rs\n> <b>\n> c\n> ```\n> \\<b>");
    assert_eq!(block("~~~ a`b\n<b>\n```"), "> ~~~a\n> <b>\n> ```\n> ~~~");
}

#[test]
fn prose_keeps_its_lines_and_all_else_its_columns() {
    let prose = format!("One *line* {}\nand <another>\n\n= no rule", "word ".repeat(30).trim());
    insta::assert_snapshot!(block(&prose), @r"
    > One \*line\* word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word  
    > and \<another>
    >
    > \= no rule
    ");
    assert_eq!(block("a   b\n c  ``` d\n"), "````text\na   b\n c  ``` d\n````");
    assert_eq!(block("diff --git a b\n- `a` and `b`\n"), "```text\ndiff --git a b\n- `a` and `b`\n```");
}
