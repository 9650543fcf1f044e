//! What an expression takes for granted of the values it names: what it compares with what, what stands as a condition.
//! Nothing is judged here; the compiler holds it against what it knows of their types.

use std::ops::Range;

use minijinja::machinery::ast::{BinOpKind, CompareOpKind, Expr, UnaryOpKind};
use serde_json::Value as Json;

use super::parse::range;
use super::reference::{Reference, Segment};
use super::values::json_of;
use super::walk::Walk;

/// Claims of one template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// What is compared.
    pub comparisons: Vec<Comparison>,
    /// What counts as true or false, in a bare expression: itself, or the parts that `and`, `or` and `not` join.
    pub conditions: Vec<Operand>,
    /// What is asked for its length.
    pub measured: Vec<Reference>,
    /// Names of fields that stand behind something computed, and texts, which filters take for names of fields.
    pub fields: Vec<String>,
}

impl Claims {
    /// Whether it may read a field of this name from something computed.
    pub fn may_read(&self, field: &str) -> bool {
        self.fields.iter().any(|named| named.split('.').any(|part| part == field))
    }
}

/// Two values side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How.
    pub relation: Relation,
    /// The value on the left.
    pub left: Operand,
    /// The value on the right.
    pub right: Operand,
    /// The bytes of the source that it stands in.
    pub at: Range<usize>,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==` or `!=`.
    Equal,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    /// `in`.
    Among,
}

/// A value of an expression, as far as it tells by itself what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A value of the run, with the whole path written out.
    Reference(Reference),
    /// A value that is written out, and the bytes it stands in.
    Literal(Json, Range<usize>),
    /// Anything that is computed.
    Computed,
}

impl<'a> Walk<'a> {
    /// Takes note of a comparison.
    pub(super) fn claim(&mut self, op: CompareOpKind, left: &Expr<'a>, right: &Expr<'a>) {
        let relation = match op {
            CompareOpKind::Eq | CompareOpKind::Ne => Relation::Equal,
            CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => {
                Relation::Order
            }
            CompareOpKind::In | CompareOpKind::NotIn => Relation::Among,
        };
        let at = extent(left).start..extent(right).end;
        let (left, right) = (self.operand(left), self.operand(right));
        self.claims.comparisons.push(Comparison { relation, left, right, at });
    }

    /// Takes note of a length.
    pub(super) fn measure(&mut self, filter: &str, of: Option<&Expr<'a>>) {
        if matches!(filter, "length" | "count")
            && let Some(reference) = of.and_then(|of| self.path(of))
        {
            self.claims.measured.push(reference);
        }
    }

    /// Takes note of what a bare expression, or a part of one, holds for true or false.
    pub(super) fn condition(&mut self, expr: &Expr<'a>) {
        match expr {
            Expr::BinOp(node) if matches!(node.op, BinOpKind::ScAnd | BinOpKind::ScOr) => {
                self.condition(&node.left);
                self.condition(&node.right);
            }
            Expr::UnaryOp(node) if matches!(node.op, UnaryOpKind::Not) => self.condition(&node.expr),
            other => {
                let operand = self.operand(other);
                self.claims.conditions.push(operand);
            }
        }
    }

    fn operand(&self, expr: &Expr<'a>) -> Operand {
        if let Some(reference) = self.path(expr) {
            return Operand::Reference(reference);
        }
        let literal = expr.as_const().and_then(|value| json_of(&value).ok());
        literal.map_or(Operand::Computed, |value| Operand::Literal(value, extent(expr)))
    }

    /// The reference that an expression is, if it is nothing else.
    fn path(&self, expr: &Expr<'a>) -> Option<Reference> {
        let mut path = Vec::new();
        let mut base = expr;
        loop {
            match base {
                Expr::GetAttr(node) => {
                    path.push(Segment::Name(node.name.to_owned()));
                    base = &node.expr;
                }
                Expr::GetItem(node) => {
                    path.push(Segment::constant(&node.subscript_expr)?);
                    base = &node.expr;
                }
                Expr::Var(var) if !self.is_local(var.id) && var.id != "null" => {
                    path.push(Segment::Name(var.id.to_owned()));
                    path.reverse();
                    return Some(Reference { path, at: extent(expr), defaulted: false });
                }
                _ => return None,
            }
        }
    }
}

/// The bytes of an expression. A chain of fields begins where its base does.
pub(super) fn extent(expr: &Expr<'_>) -> Range<usize> {
    let mut base = expr;
    loop {
        base = match base {
            Expr::GetAttr(node) => &node.expr,
            Expr::GetItem(node) => &node.expr,
            Expr::Filter(node) => match &node.expr {
                Some(inner) => inner,
                None => break,
            },
            _ => break,
        }
    }
    range(base.span()).start..range(expr.span()).end
}
