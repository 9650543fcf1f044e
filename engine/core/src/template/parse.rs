//! From text to minijinja's tree, with faults in flow's words.

use std::ops::Range;
use std::sync::OnceLock;

use minijinja::machinery::{Token, Tokenizer, ast, parse, parse_expr};
use minijinja::syntax::SyntaxConfig;

use super::error::{TemplateError, TemplateErrorKind};
use super::scan::{Marker, extent, foreign_operator, foreign_word, next_marker, shell_test};

/// Operators and brackets in one hole, beyond which the tree could be too deep for the stack.
const MOST_OPERATORS: usize = 250;

/// `elif` branches in one template; each nests in the one before.
const MOST_BRANCHES: usize = 100;

/// The delimiters `${{ }}`, `${% %}`, `${{# #}}`.
pub(super) fn syntax() -> SyntaxConfig {
    static SYNTAX: OnceLock<SyntaxConfig> = OnceLock::new();
    let build = || {
        SyntaxConfig::builder()
            .variable_delimiters("${{", "}}")
            .block_delimiters("${%", "%}")
            .comment_delimiters("${{#", "#}}")
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()
            // The delimiters are constant and differ, so this can't fail; a test would see it.
            .unwrap_or_default()
    };
    SYNTAX.get_or_init(build).clone()
}

/// Parses text with holes.
pub(super) fn template(source: &str) -> Result<ast::Stmt<'_>, TemplateError> {
    small_enough(source, false)?;
    parse(source, "template", syntax()).map_err(|error| fault(&error, source, false))
}

/// Parses a bare expression.
pub(super) fn expression(source: &str) -> Result<ast::Expr<'_>, TemplateError> {
    small_enough(source, true)?;
    if source.trim().is_empty() {
        return Err(TemplateError::new(
            TemplateErrorKind::Syntax,
            0..source.len(),
            "the expression is empty",
        ));
    }
    parse_expr(source).map_err(|error| fault(&error, source, true))
}

/// The bytes that a node stands in.
pub(super) fn range(span: minijinja::machinery::Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// Refuses what would nest too deep. Faults of the text itself are the parser's to find.
fn small_enough(source: &str, is_expression: bool) -> Result<(), TemplateError> {
    let mut tokens = Tokenizer::new(source, "template", is_expression, syntax());
    let (mut operators, mut branches) = (0, 0);
    while let Ok(Some((token, span))) = tokens.next_token() {
        match token {
            Token::VariableStart | Token::BlockStart => operators = 0,
            Token::Ident("elif") => branches += 1,
            Token::Ident("and" | "or" | "not" | "is" | "if" | "else") => operators += 1,
            Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::FloorDiv | Token::Pow => {
                operators += 1
            }
            Token::Mod | Token::Dot | Token::Tilde | Token::Pipe => operators += 1,
            Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => operators += 1,
            _ => {}
        }
        if operators > MOST_OPERATORS || branches > MOST_BRANCHES {
            let message = "the expression is too long";
            let error = TemplateError::new(TemplateErrorKind::Syntax, range(span), message);
            return Err(error.help("compute the value in a task"));
        }
    }
    Ok(())
}

fn fault(error: &minijinja::Error, source: &str, is_expression: bool) -> TemplateError {
    let at = error.range().unwrap_or(0..source.len());
    let at = whole_characters(source, at);
    let hole = if is_expression { 0..source.len() } else { hole_around(source, at.start) };
    let detail = error.detail().unwrap_or("it can't be parsed");
    let is_open = || {
        let text = &source[hole.clone()];
        // A quote that swallows the end is told as one.
        let by_quote = detail == "unexpected end of string" && text.contains("}}");
        text.starts_with("${{") && !by_quote && extent(source, hole.start, Marker::Hole).is_none()
    };
    if !is_expression && is_open() {
        return open_hole(hole.start);
    }
    if is_expression && let Some(help) = shell_test(source) {
        let error = TemplateError::new(TemplateErrorKind::Syntax, hole, "this is an expression, not shell");
        return error.help(help);
    }
    if let Some((found, operator, word)) = foreign_operator(&source[hole.clone()]) {
        let at = hole.start + found.start..hole.start + found.end;
        let what = if word == "\"" { "quote" } else { "operator" };
        let message = format!("`{operator}` is no {what} here");
        return TemplateError::new(TemplateErrorKind::Syntax, at, message).help(format!("write `{word}`"));
    }
    if let Some((word, meant)) = foreign_word(source, at.start) {
        let at = at.start..at.start + word.len();
        let message = format!("`{word}` is no operator here");
        return TemplateError::new(TemplateErrorKind::Syntax, at, message).help(format!("write `{meant}`"));
    }
    if let Some(name) = detail.strip_prefix("unknown statement ") {
        let message = format!("`{name}` is no block of this language");
        let error = TemplateError::new(TemplateErrorKind::Syntax, at, message);
        return match name {
            "include" | "import" | "from" | "extends" | "block" => {
                error.help("templates can't load others; a sub-workflow or `prompt: { file: … }` can")
            }
            _ => error.help("blocks are for, if, set, with, filter, macro, call, do and raw"),
        };
    }
    if detail == "unexpected end of variable block" && is_empty(&source[hole.clone()]) {
        return TemplateError::new(TemplateErrorKind::Syntax, hole, "the hole is empty");
    }
    let message = detail
        .replace("end of variable block", "`}}`")
        .replace("end of block", "`%}`")
        .replace("start of variable block", "`${{`")
        .replace("start of block", "`${%`");
    let never_closed = detail.contains("end of input")
        || ["unexpected end of string", "unexpected end of comment", "unexpected end of raw block"]
            .contains(&detail);
    if !never_closed || is_expression {
        return TemplateError::new(TemplateErrorKind::Syntax, at, message);
    }
    let sign = hole.start..hole.end.min(hole.start + 3);
    match &source[sign.clone()] {
        "${%" => {
            TemplateError::new(TemplateErrorKind::Syntax, sign, "a block is open at the end of the text")
                .help("end it, for example with `${% endif %}`")
        }
        "${{" => TemplateError::new(TemplateErrorKind::Syntax, sign, message).help("close it with `}}`"),
        _ => TemplateError::new(TemplateErrorKind::Syntax, at, message),
    }
}

/// A hole that the text ends in. Whoever writes about holes means the sign itself.
pub(super) fn open_hole(start: usize) -> TemplateError {
    let error = TemplateError::new(TemplateErrorKind::Syntax, start..start + 3, "a hole is never closed");
    error.help("close it with `}}`, and every quote and bracket in it; the sign itself is `${{ \"${{\" }}`")
}

fn is_empty(hole: &str) -> bool {
    let inside = hole.strip_prefix("${{").and_then(|text| text.strip_suffix("}}"));
    inside.is_some_and(|text| text.trim_matches(['-', '+']).trim().is_empty())
}

/// The hole or block that holds a place: what the last marker before it begins.
fn hole_around(source: &str, place: usize) -> Range<usize> {
    let (mut from, mut found) = (0, None);
    while let Some((start, marker)) = next_marker(source, from) {
        if start > place {
            break;
        }
        let range = extent(source, start, marker);
        found = Some((start, range.clone()));
        from = match range {
            Some(range) => range.end,
            // An open hole hides what follows it; an open block or comment likewise.
            None => start + if marker == Marker::Comment { 4 } else { 3 },
        };
    }
    match found {
        Some((_, Some(range))) => range,
        Some((start, None)) => start..source.len(),
        None => 0..source.len(),
    }
}

fn whole_characters(source: &str, at: Range<usize>) -> Range<usize> {
    let mut start = at.start.min(source.len());
    while !source.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = at.end.clamp(start, source.len());
    while !source.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
