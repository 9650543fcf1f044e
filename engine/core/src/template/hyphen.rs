//! `inputs.dry-run`: a name with a hyphen, which an expression reads as a difference.

use minijinja::machinery::ast::{BinOp, BinOpKind, Expr};

use super::claims::extent;
use super::error::{TemplateError, TemplateErrorKind};
use super::walk::Walk;

impl<'a> Walk<'a> {
    /// Whether a difference was meant as a name: a path, a hyphen and a name, and no blank between them.
    pub(super) fn hyphen(&self, node: &BinOp<'a>) -> Option<TemplateError> {
        if !self.is_hyphenated(node) {
            return None;
        }
        let mut first = &node.left;
        while let Expr::BinOp(inner) = first {
            first = &inner.left;
        }
        let at = extent(first).start..extent(&node.right).end;
        let written = self.source.get(at.clone())?;
        let (before, name) = written.rsplit_once('.')?;
        let help = match before {
            "inputs" | "tasks" | "matrix" | "secrets" | "env" => {
                format!(
                    "names have none: `{before}.{}`; for a difference put blanks around it",
                    name.replace('-', "_")
                )
            }
            _ => format!("write `{before}[\"{name}\"]`; for a difference put blanks around it"),
        };
        let error = TemplateError::new(TemplateErrorKind::Syntax, at, "a hyphen is a minus in expressions");
        Some(error.help(help))
    }

    fn is_hyphenated(&self, node: &BinOp<'a>) -> bool {
        let Expr::Var(name) = &node.right else { return false };
        // Numbers by themselves: a difference of them makes sense.
        if !matches!(node.op, BinOpKind::Sub) || self.is_local(name.id) || name.id == "attempt" {
            return false;
        }
        let path = match &node.left {
            Expr::GetAttr(_) => true,
            Expr::BinOp(inner) => self.is_hyphenated(inner),
            _ => false,
        };
        let (left, right) = (extent(&node.left).end, extent(&node.right).start);
        path && self.source.get(left..right) == Some("-")
    }
}
