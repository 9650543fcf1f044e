//! One walk over a parsed expression: it checks every name, collects references with their places, and builds the tree
//! that is evaluated. There, references ask [`super::lookup`] for values, and what turns into text does so by flow's rules.

use std::ops::Range;

use minijinja::Value;
use minijinja::machinery::ast::{CallArg, CompareOpKind, Expr, Spanned};
use minijinja::machinery::{Span, ast};

use super::claims::Claims;
use super::error::{TemplateError, TemplateErrorKind};
use super::names::{self, Kind};
use super::parse::range;
use super::reference::{Reference, Segment};

/// How an expression copes with a value that isn't there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// A missing field is an error.
    Error,
    /// A missing field is an error, and null is expected: it is compared with null.
    Null,
    /// A missing field is undefined: `default` or a test takes it up.
    Undefined,
}

/// The walk and what it found.
pub(super) struct Walk<'a> {
    pub(super) references: Vec<Reference>,
    pub(super) claims: Claims,
    pub(super) errors: Vec<TemplateError>,
    /// Where a function asks how the run stands.
    pub(super) status_calls: Vec<StatusCall>,
    /// Whether something is named and used again, so that text can double.
    pub(super) grows: bool,
    pub(super) source: &'a str,
    pub(super) scopes: Vec<Vec<&'a str>>,
    /// The tasks that the conditions around a place ask about: whoever asks knows in which case the rest is read.
    guards: Vec<String>,
}

/// A call of a function that asks how the run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCall {
    /// The function.
    pub name: &'static str,
    /// The bytes of the source that its name and parentheses stand in.
    pub at: Range<usize>,
}

/// A step of an access chain.
enum Step<'t, 'a> {
    Name(&'a str),
    Item(&'t Expr<'a>),
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let scopes = vec![Vec::new()];
        Walk {
            references: Vec::new(),
            claims: Claims::default(),
            errors: Vec::new(),
            status_calls: Vec::new(),
            grows: false,
            source,
            scopes,
            guards: Vec::new(),
        }
    }

    pub(super) fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(&name))
    }

    pub(super) fn expr(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        self.expr_with(expr, Absence::Error)
    }

    pub(super) fn maybe(&mut self, expr: Option<&Expr<'a>>) -> Option<Expr<'a>> {
        expr.map(|expr| self.expr(expr))
    }

    fn exprs(&mut self, list: &[Expr<'a>]) -> Vec<Expr<'a>> {
        list.iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr_with(&mut self, expr: &Expr<'a>, absence: Absence) -> Expr<'a> {
        let span = expr.span();
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => self.access(expr, absence),
            Expr::Const(node) => {
                self.claims.fields.extend(node.value.as_str().map(str::to_owned));
                Expr::Const(Spanned::new(ast::Const { value: node.value.clone() }, span))
            }
            Expr::Slice(node) => {
                let slice = ast::Slice {
                    expr: self.expr(&node.expr),
                    start: self.maybe(node.start.as_ref()),
                    stop: self.maybe(node.stop.as_ref()),
                    step: self.maybe(node.step.as_ref()),
                };
                Expr::Slice(Spanned::new(slice, span))
            }
            Expr::UnaryOp(node) => {
                let negates = matches!(node.op, ast::UnaryOpKind::Neg);
                let op = if negates { ast::UnaryOpKind::Neg } else { ast::UnaryOpKind::Not };
                Expr::UnaryOp(Spanned::new(ast::UnaryOp { op, expr: self.expr(&node.expr) }, span))
            }
            Expr::BinOp(node) => self.binary(node, span),
            Expr::Compare(node) if is_plain_chain(node) => self.chain(node, span),
            Expr::Compare(node) => {
                let first = self.expr(&node.expr);
                let ops = node.ops.iter().map(|op| ast::CompareOp { op: op.op, expr: self.expr(&op.expr) });
                let ops = ops.collect();
                Expr::Compare(Spanned::new(ast::Compare { expr: first, ops }, span))
            }
            Expr::IfExpr(node) => {
                let (test_expr, (true_expr, false_expr)) = self.behind(&node.test_expr, |walk| {
                    (walk.expr(&node.true_expr), walk.maybe(node.false_expr.as_ref()))
                });
                Expr::IfExpr(Spanned::new(ast::IfExpr { test_expr, true_expr, false_expr }, span))
            }
            Expr::Filter(node) => self.filter(node),
            Expr::Test(node) => self.test(node),
            Expr::Call(node) => Expr::Call(self.call(node)),
            Expr::List(node) => Expr::List(Spanned::new(ast::List { items: self.exprs(&node.items) }, span)),
            Expr::Tuple(node) => {
                Expr::Tuple(Spanned::new(ast::Tuple { items: self.exprs(&node.items) }, span))
            }
            Expr::Map(node) => {
                let map = ast::Map { keys: self.exprs(&node.keys), values: self.exprs(&node.values) };
                Expr::Map(Spanned::new(map, span))
            }
        }
    }

    fn binary(&mut self, node: &ast::BinOp<'a>, span: Span) -> Expr<'a> {
        use ast::BinOpKind as Op;
        if let Some(error) = self.hyphen(node) {
            self.errors.push(error);
            return constant(Value::from(()), span);
        }
        let absence = match node.op {
            Op::Eq | Op::Ne if is_null(&node.left) || is_null(&node.right) => Absence::Null,
            _ => Absence::Error,
        };
        let comparison = compares(node.op);
        if let Some(op) = comparison {
            self.claim(op, &node.left, &node.right);
        }
        let (left, right) = match node.op {
            Op::ScAnd | Op::ScOr => self.behind(&node.left, |walk| walk.expr(&node.right)),
            _ => (self.expr_with(&node.left, absence), self.expr_with(&node.right, absence)),
        };
        match node.op {
            Op::Eq | Op::Ne | Op::Lt | Op::Lte | Op::Gt | Op::Gte => {
                let function = comparison.map_or("%eq", ordering);
                internal(function, vec![left, right], span)
            }
            Op::Concat => internal("%concat", vec![left, right], span),
            Op::Mul => internal("%times", vec![left, right], span),
            Op::Add => {
                let sum = Expr::BinOp(Spanned::new(ast::BinOp { op: Op::Add, left, right }, span));
                internal("%bounded", vec![sum], span)
            }
            op => Expr::BinOp(Spanned::new(ast::BinOp { op, left, right }, span)),
        }
    }

    /// A condition, and what is read only as it comes out. Null is an answer to a condition.
    pub(super) fn behind<T>(
        &mut self,
        condition: &Expr<'a>,
        rest: impl FnOnce(&mut Self) -> T,
    ) -> (Expr<'a>, T) {
        let (asked, before) = (self.references.len(), self.guards.len());
        let condition = self.expr_with(condition, Absence::Null);
        let tasks = self.references[asked..].iter().filter_map(Reference::task).map(str::to_owned);
        self.guards.extend(tasks.collect::<Vec<_>>());
        let rest = rest(self);
        self.guards.truncate(before);
        (condition, rest)
    }

    /// `a < b < c` as `a < b and b < c`, each under flow's rules.
    fn chain(&mut self, node: &ast::Compare<'a>, span: Span) -> Expr<'a> {
        let mut left = &node.expr;
        let mut all: Option<Expr<'a>> = None;
        for step in &node.ops {
            self.claim(step.op, left, &step.expr);
            let (from, to) = (self.expr(left), self.expr(&step.expr));
            let one = internal(ordering(step.op), vec![from, to], span);
            all = Some(match all {
                None => one,
                Some(left) => {
                    let both = ast::BinOp { op: ast::BinOpKind::ScAnd, left, right: one };
                    Expr::BinOp(Spanned::new(both, span))
                }
            });
            left = &step.expr;
        }
        all.unwrap_or_else(|| constant(Value::from(true), span))
    }

    /// A name, or fields and items of something.
    fn access(&mut self, expr: &Expr<'a>, absence: Absence) -> Expr<'a> {
        let mut steps = Vec::new();
        let mut base = expr;
        loop {
            match base {
                Expr::GetAttr(node) => {
                    steps.push((Step::Name(node.name), range(node.span()).end));
                    base = &node.expr;
                }
                Expr::GetItem(node) => {
                    steps.push((Step::Item(&node.subscript_expr), range(node.span()).end));
                    base = &node.expr;
                }
                _ => break,
            }
        }
        steps.reverse();
        let last = expr.span();
        let mut span = base.span();
        (span.end_line, span.end_col, span.end_offset) = (last.end_line, last.end_col, last.end_offset);

        let root = match base {
            Expr::Var(var) if !self.is_local(var.id) => Some(var),
            _ => None,
        };
        self.claims.fields.extend(computed(root.is_some(), &steps));
        // A variable that isn't set is null to whoever reckons with null.
        let or_null = root.is_some_and(|var| var.id == "env") && absence == Absence::Null;
        let absence = if or_null { Absence::Undefined } else { absence };
        let mut args = Vec::with_capacity(steps.len() + 1);
        match root {
            Some(var) if steps.is_empty() && var.id == "null" => return constant(Value::from(()), span),
            Some(var) => {
                self.refer(var.id, range(var.span()), &steps, absence);
                args.push(constant(Value::from(var.id), var.span()));
            }
            None if steps.is_empty() => return self.local(base),
            None if is_loop(base) => return self.native(expr),
            None => args.push(self.local(base)),
        }
        for (step, _) in &steps {
            args.push(match step {
                Step::Name(name) => constant(Value::from(*name), span),
                Step::Item(item) => self.expr(item),
            });
        }
        let function = match (root.is_some(), absence) {
            (true, Absence::Error | Absence::Null) => "%get",
            (true, Absence::Undefined) => "%find",
            (false, Absence::Error | Absence::Null) => "%get_of",
            (false, Absence::Undefined) => "%find_of",
        };
        let found = internal(function, args, span);
        if !or_null {
            return found;
        }
        let args = vec![CallArg::Pos(constant(Value::from(()), span))];
        Expr::Filter(Spanned::new(ast::Filter { name: "default", expr: Some(found), args }, span))
    }

    /// What stands before the first dot and isn't a name of the run.
    fn local(&mut self, base: &Expr<'a>) -> Expr<'a> {
        match base {
            Expr::Var(var) => Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span())),
            other => self.expr(other),
        }
    }

    /// The same access, left to minijinja: `loop` is its own object.
    pub(super) fn native(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        match expr {
            Expr::GetAttr(node) => {
                let attr = ast::GetAttr { expr: self.native(&node.expr), name: node.name };
                Expr::GetAttr(Spanned::new(attr, node.span()))
            }
            Expr::GetItem(node) => {
                let subscript_expr = self.expr(&node.subscript_expr);
                let item = ast::GetItem { expr: self.native(&node.expr), subscript_expr };
                Expr::GetItem(Spanned::new(item, node.span()))
            }
            other => self.local(other),
        }
    }

    fn refer(&mut self, name: &str, at: Range<usize>, steps: &[(Step<'_, 'a>, usize)], absence: Absence) {
        let mut at = at;
        let mut path = vec![Segment::Name(name.to_owned())];
        if steps.is_empty() && names::FUNCTIONS.contains(&name) {
            let message = format!("`{name}` is a function");
            let error = TemplateError::new(TemplateErrorKind::Syntax, at, message);
            self.errors.push(error.help(format!("write `{name}(…)` with parentheses")));
            return;
        }
        for (step, end) in steps {
            let segment = match step {
                Step::Name(name) => Some(Segment::Name((*name).to_owned())),
                Step::Item(item) => Segment::constant(item),
            };
            let Some(segment) = segment else { break };
            path.push(segment);
            at.end = *end;
        }
        let mut reference = Reference { path, at, defaulted: absence != Absence::Error };
        let guarded = reference.task().is_some_and(|task| self.guards.iter().any(|guard| guard == task));
        reference.defaulted |= guarded;
        self.references.push(reference);
    }

    pub(super) fn filter(&mut self, node: &Spanned<ast::Filter<'a>>) -> Expr<'a> {
        let (name, span) = (node.name, node.span());
        self.known(Kind::Filter, name, range(span).start);
        let absence = if matches!(name, "default" | "d") { Absence::Undefined } else { Absence::Error };
        self.measure(name, node.expr.as_ref());
        let expr = node.expr.as_ref().map(|expr| self.expr_with(expr, absence));
        let expr = match expr {
            Some(expr) if names::TEXT_FILTERS.contains(&name) => {
                let text = ast::Filter { name: "string", expr: Some(expr), args: Vec::new() };
                Some(Expr::Filter(Spanned::new(text, span)))
            }
            other => other,
        };
        self.named_by_text(name, &node.args);
        let args = self.args(&node.args);
        Expr::Filter(Spanned::new(ast::Filter { name, expr, args }, span))
    }

    /// Checks filters and tests that an argument names: `map("upper")`, `selectattr("status", "eq", "failed")`.
    fn named_by_text(&mut self, filter: &str, args: &[CallArg<'a>]) {
        let (kind, position) = match filter {
            "map" => (Kind::Filter, 0),
            "select" | "reject" => (Kind::Test, 0),
            "selectattr" | "rejectattr" => (Kind::Test, 1),
            _ => return,
        };
        if let Some(CallArg::Pos(Expr::Const(node))) = args.get(position)
            && let Some(name) = node.value.as_str()
            && !(kind == Kind::Test && names::OPERATOR_TESTS.contains(&name))
        {
            let at = range(node.span());
            self.check_name(kind, name, at);
        }
    }

    fn test(&mut self, node: &Spanned<ast::Test<'a>>) -> Expr<'a> {
        let span = node.span();
        self.known(Kind::Test, node.name, range(span).start);
        let absence = match node.name {
            "none" | "null" | "defined" | "undefined" => Absence::Undefined,
            _ => Absence::Error,
        };
        let expr = self.expr_with(&node.expr, absence);
        let args = self.args(&node.args);
        Expr::Test(Spanned::new(ast::Test { name: node.name, expr, args }, span))
    }

    pub(super) fn call(&mut self, node: &Spanned<ast::Call<'a>>) -> Spanned<ast::Call<'a>> {
        let args = self.args(&node.args);
        let expr = match &node.expr {
            Expr::Var(var) => {
                if !self.is_local(var.id) {
                    self.known(Kind::Function, var.id, range(var.span()).start);
                    if let Some(name) = names::STATUS.iter().find(|name| **name == var.id) {
                        let start = range(var.span()).start;
                        let at = start..start + name.len() + "()".len();
                        self.status_calls.push(StatusCall { name, at });
                    }
                }
                Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span()))
            }
            Expr::GetAttr(attr) if is_loop(&attr.expr) && self.is_local("loop") => self.native(&node.expr),
            Expr::GetAttr(attr) => {
                let end = range(attr.span()).end;
                self.check_name(Kind::Method, attr.name, end.saturating_sub(attr.name.len())..end);
                self.expr(&attr.expr)
            }
            other => {
                let message = format!("a {} can't be called", other.description());
                let at = range(other.span());
                self.errors.push(TemplateError::new(TemplateErrorKind::UnknownFilter, at, message));
                self.expr(other)
            }
        };
        Spanned::new(ast::Call { expr, args }, node.span())
    }

    fn args(&mut self, args: &[CallArg<'a>]) -> Vec<CallArg<'a>> {
        let walk = |arg: &CallArg<'a>| match arg {
            CallArg::Pos(expr) => CallArg::Pos(self.expr(expr)),
            CallArg::Kwarg(name, expr) => CallArg::Kwarg(name, self.expr(expr)),
            CallArg::PosSplat(expr) => CallArg::PosSplat(self.expr(expr)),
            CallArg::KwargSplat(expr) => CallArg::KwargSplat(self.expr(expr)),
        };
        args.iter().map(walk).collect()
    }

    fn known(&mut self, kind: Kind, name: &str, start: usize) {
        self.check_name(kind, name, start..start + name.len());
    }

    fn check_name(&mut self, kind: Kind, name: &str, at: Range<usize>) {
        let table = match kind {
            Kind::Filter => names::FILTERS,
            Kind::Test => names::TESTS,
            Kind::Function => names::FUNCTIONS,
            Kind::Method => &[],
        };
        if !table.contains(&name) {
            let message = format!("there is no {} `{name}`", kind.word());
            let error = TemplateError { help: names::help_for(kind, name), ..self.unknown(at, message) };
            self.errors.push(error);
        }
    }

    fn unknown(&self, at: Range<usize>, message: String) -> TemplateError {
        let end = at.end.min(self.source.len());
        TemplateError::new(TemplateErrorKind::UnknownFilter, at.start.min(end)..end, message)
    }
}

/// The names in a chain that no path holds: those behind a computed subscript, or all.
fn computed(has_path: bool, steps: &[(Step<'_, '_>, usize)]) -> Vec<String> {
    let is_written = |step: &Step<'_, '_>| match step {
        Step::Name(_) => true,
        Step::Item(item) => Segment::constant(item).is_some(),
    };
    let written = steps.iter().take_while(|(step, _)| has_path && is_written(step)).count();
    let names = steps[written..].iter().filter_map(|(step, _)| match step {
        Step::Name(name) => Some((*name).to_owned()),
        Step::Item(_) => None,
    });
    names.collect()
}

/// Whether each side of a chain may be evaluated twice, since that costs nothing.
fn is_plain_chain(node: &ast::Compare<'_>) -> bool {
    let is_plain = |expr: &Expr<'_>| matches!(expr, Expr::Var(_) | Expr::Const(_) | Expr::GetAttr(_));
    node.ops
        .iter()
        .all(|step| is_plain(&step.expr) && !matches!(step.op, CompareOpKind::In | CompareOpKind::NotIn))
}

/// How an operator compares, if it does.
fn compares(op: ast::BinOpKind) -> Option<CompareOpKind> {
    Some(match op {
        ast::BinOpKind::Eq => CompareOpKind::Eq,
        ast::BinOpKind::Ne => CompareOpKind::Ne,
        ast::BinOpKind::Lt => CompareOpKind::Lt,
        ast::BinOpKind::Lte => CompareOpKind::Lte,
        ast::BinOpKind::Gt => CompareOpKind::Gt,
        ast::BinOpKind::Gte => CompareOpKind::Gte,
        ast::BinOpKind::In => CompareOpKind::In,
        _ => return None,
    })
}

/// The function that stands for a comparison.
fn ordering(op: CompareOpKind) -> &'static str {
    match op {
        CompareOpKind::Eq | CompareOpKind::In | CompareOpKind::NotIn => "%eq",
        CompareOpKind::Ne => "%ne",
        CompareOpKind::Lt => "%lt",
        CompareOpKind::Lte => "%le",
        CompareOpKind::Gt => "%gt",
        CompareOpKind::Gte => "%ge",
    }
}

fn is_null(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Const(node) => node.value.is_none(),
        Expr::Var(var) => var.id == "null",
        _ => false,
    }
}

fn is_loop(expr: &Expr<'_>) -> bool {
    matches!(expr, Expr::Var(var) if var.id == "loop")
}

fn constant<'a>(value: Value, span: Span) -> Expr<'a> {
    Expr::Const(Spanned::new(ast::Const { value }, span))
}

/// A call of a function that no one can write: its name is no identifier.
fn internal<'a>(name: &'static str, args: Vec<Expr<'a>>, span: Span) -> Expr<'a> {
    let expr = Expr::Var(Spanned::new(ast::Var { id: name }, span));
    let args = args.into_iter().map(CallArg::Pos).collect();
    Expr::Call(Spanned::new(ast::Call { expr, args }, span))
}
