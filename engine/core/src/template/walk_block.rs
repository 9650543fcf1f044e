//! The walk over blocks: which names are local where.

use minijinja::machinery::ast::{self, Expr, Spanned, Stmt};

use super::error::{TemplateError, TemplateErrorKind};
use super::parse::range;
use super::walk::Walk;

impl<'a> Walk<'a> {
    pub(super) fn stmts(&mut self, list: &[Stmt<'a>]) -> Vec<Stmt<'a>> {
        list.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    /// The statements in a scope of their own in which `names` are local.
    fn scoped(&mut self, names: Vec<&'a str>, body: &[Stmt<'a>]) -> Vec<Stmt<'a>> {
        self.scopes.push(names);
        let body = self.stmts(body);
        self.scopes.pop();
        body
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt<'a>) -> Stmt<'a> {
        match stmt {
            Stmt::Template(node) => {
                let children = self.stmts(&node.children);
                Stmt::Template(Spanned::new(ast::Template { children }, node.span()))
            }
            Stmt::EmitExpr(node) => {
                Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr: self.expr(&node.expr) }, node.span()))
            }
            Stmt::EmitRaw(node) => Stmt::EmitRaw(Spanned::new(ast::EmitRaw { raw: node.raw }, node.span())),
            Stmt::ForLoop(node) => Stmt::ForLoop(Spanned::new(self.for_loop(node), node.span())),
            Stmt::IfCond(node) => {
                let (expr, (true_body, false_body)) = self
                    .behind(&node.expr, |walk| (walk.stmts(&node.true_body), walk.stmts(&node.false_body)));
                Stmt::IfCond(Spanned::new(ast::IfCond { expr, true_body, false_body }, node.span()))
            }
            Stmt::WithBlock(node) => Stmt::WithBlock(Spanned::new(self.with(node), node.span())),
            Stmt::Set(node) => {
                self.grows = true;
                let expr = self.expr(&node.expr);
                let target = self.target(&node.target);
                Stmt::Set(Spanned::new(ast::Set { target, expr }, node.span()))
            }
            Stmt::SetBlock(node) => {
                self.grows = true;
                let body = self.scoped(Vec::new(), &node.body);
                let filter = self.maybe(node.filter.as_ref());
                let target = self.target(&node.target);
                Stmt::SetBlock(Spanned::new(ast::SetBlock { target, filter, body }, node.span()))
            }
            Stmt::AutoEscape(node) => {
                let at = range(node.span());
                let at = at.start..at.end.min(at.start + "autoescape".len());
                let message = "`autoescape` is no block of this language";
                let error = TemplateError::new(TemplateErrorKind::Syntax, at, message);
                self.errors.push(error.help("values are never escaped; leave it out"));
                let block =
                    ast::AutoEscape { enabled: self.expr(&node.enabled), body: self.stmts(&node.body) };
                Stmt::AutoEscape(Spanned::new(block, node.span()))
            }
            Stmt::FilterBlock(node) => {
                let block = ast::FilterBlock {
                    filter: self.expr(&node.filter),
                    filter_span: node.filter_span,
                    body: self.scoped(Vec::new(), &node.body),
                };
                Stmt::FilterBlock(Spanned::new(block, node.span()))
            }
            Stmt::Macro(node) => {
                self.declare(node.name);
                Stmt::Macro(Spanned::new(self.macro_(node), node.span()))
            }
            Stmt::CallBlock(node) => {
                let block = ast::CallBlock {
                    call: self.call(&node.call),
                    call_expr_span: node.call_expr_span,
                    macro_decl: Spanned::new(self.macro_(&node.macro_decl), node.macro_decl.span()),
                };
                Stmt::CallBlock(Spanned::new(block, node.span()))
            }
            Stmt::Continue(node) => Stmt::Continue(Spanned::new(ast::Continue, node.span())),
            Stmt::Break(node) => Stmt::Break(Spanned::new(ast::Break, node.span())),
            Stmt::Do(node) => Stmt::Do(Spanned::new(ast::Do { call: self.call(&node.call) }, node.span())),
        }
    }

    fn for_loop(&mut self, node: &ast::ForLoop<'a>) -> ast::ForLoop<'a> {
        self.grows = true;
        let iter = self.expr(&node.iter);
        self.scopes.push(vec!["loop"]);
        let target = self.target(&node.target);
        let filter_expr = self.maybe(node.filter_expr.as_ref());
        let body = self.stmts(&node.body);
        self.scopes.pop();
        let else_body = self.scoped(Vec::new(), &node.else_body);
        ast::ForLoop { target, iter, filter_expr, recursive: node.recursive, body, else_body }
    }

    fn with(&mut self, node: &ast::WithBlock<'a>) -> ast::WithBlock<'a> {
        self.grows = true;
        self.scopes.push(Vec::new());
        let mut assignments = Vec::with_capacity(node.assignments.len());
        for (target, expr) in &node.assignments {
            let expr = self.expr(expr);
            assignments.push((self.target(target), expr));
        }
        let body = self.stmts(&node.body);
        self.scopes.pop();
        ast::WithBlock { assignments, body }
    }

    fn macro_(&mut self, node: &ast::Macro<'a>) -> ast::Macro<'a> {
        self.grows = true;
        let defaults: Vec<_> = node.defaults.iter().map(|expr| self.expr(expr)).collect();
        self.scopes.push(vec!["caller"]);
        let args: Vec<_> = node.args.iter().map(|arg| self.target(arg)).collect();
        let body = self.stmts(&node.body);
        self.scopes.pop();
        ast::Macro { name: node.name, args, defaults, body }
    }

    /// What is assigned to; its names become local from here on.
    fn target(&mut self, target: &Expr<'a>) -> Expr<'a> {
        match target {
            Expr::Var(var) => {
                self.declare(var.id);
                Expr::Var(Spanned::new(ast::Var { id: var.id }, var.span()))
            }
            Expr::List(list) => {
                let items = list.items.iter().map(|item| self.target(item)).collect();
                Expr::List(Spanned::new(ast::List { items }, list.span()))
            }
            // `set space.name`: the namespace itself must be local already.
            other => {
                let mut base = other;
                while let Expr::GetAttr(node) = base {
                    base = &node.expr;
                }
                if let Expr::Var(var) = base
                    && !self.is_local(var.id)
                {
                    let message = format!("`{}` is not a namespace of this template", var.id);
                    let error = TemplateError::new(TemplateErrorKind::Syntax, range(var.span()), message);
                    self.errors
                        .push(error.help(format!("begin with `${{% set {} = namespace() %}}`", var.id)));
                }
                self.native(other)
            }
        }
    }

    fn declare(&mut self, name: &'a str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
    }
}
