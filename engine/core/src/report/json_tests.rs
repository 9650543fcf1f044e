use super::super::testing::{Journal, What, exit, said};
use super::super::{FORMATS, Format};
use crate::model::RunStatus;

#[test]
fn the_keys_and_their_order_stay() {
    let mut journal = Journal::of(&["a", "t"]);
    let text = journal.text("tasks/t/output.md", "Well.");
    journal
        .run("a", 1, What::Shell, exit(3))
        .run("t", 1, What::Agent, said(text))
        .finish(RunStatus::Failed, 1);
    insta::assert_snapshot!(journal.render("json"), @r##"
        {
          "version": 1,
          "run": "20261130-075412-k3f9q2",
          "plan": "audit",
          "path": "plan.yaml",
          "root": "/repo",
          "flow": "0.1.0",
          "status": "failed",
          "exit": 1,
          "started": 0,
          "ended": 9000,
          "duration_ms": 9000,
          "epoch": 1,
          "inputs": {
            "target": "src"
          },
          "counts": {
            "total": 2,
            "completed": 1,
            "failed": 1,
            "allowed_failures": 0,
            "killed": 0,
            "not_run": 0,
            "lost": 0,
            "skipped": 0,
            "blocked": 0,
            "running": 0,
            "waiting": 0
          },
          "usage": {
            "turns": 3,
            "tool_uses": 2,
            "input_tokens": 1000,
            "output_tokens": 40,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0
          },
          "total_tokens": 1040,
          "tasks": [
            {
              "address": "a",
              "kind": "local_bash",
              "description": "do a",
              "state": "failed",
              "reason": "exit_code",
              "allowed": false,
              "exit_code": 3,
              "duration_ms": 1200,
              "dir": "/repo",
              "leaky": false,
              "launches": [
                {
                  "launch": 1,
                  "epoch": 1,
                  "state": "failed",
                  "reason": "exit_code"
                }
              ],
              "attempts": [
                {
                  "attempt": 1,
                  "launch": 1,
                  "started": 1000,
                  "end": "failed",
                  "reason": "exit_code",
                  "exit_code": 3,
                  "duration_ms": 1200
                }
              ]
            },
            {
              "address": "t",
              "kind": "local_agent",
              "description": "do t",
              "state": "completed",
              "allowed": false,
              "duration_ms": 2500,
              "usage": {
                "turns": 3,
                "tool_uses": 2,
                "input_tokens": 1000,
                "output_tokens": 40,
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "model": "m-1"
              },
              "agent": {
                "id": "a0123456789abcdef",
                "name": "coder",
                "source": "project",
                "path": ".flow/agents/coder.md",
                "hash": "9f86d081",
                "model": "m-1"
              },
              "dir": "/repo",
              "leaky": false,
              "launches": [
                {
                  "launch": 1,
                  "epoch": 1,
                  "state": "completed"
                }
              ],
              "attempts": [
                {
                  "attempt": 1,
                  "launch": 1,
                  "started": 5000,
                  "end": "completed",
                  "duration_ms": 2500,
                  "agent_id": "a0123456789abcdef",
                  "usage": {
                    "turns": 3,
                    "tool_uses": 2,
                    "input_tokens": 1000,
                    "output_tokens": 40,
                    "cache_read_tokens": 0,
                    "cache_write_tokens": 0,
                    "model": "m-1"
                  },
                  "text": {
                    "file": "tasks/t/output.md",
                    "start": 0,
                    "len": 5
                  }
                }
              ]
            }
          ]
        }
        "##);
}

#[test]
fn formats_are_found_by_name_and_have_one_each() {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names, ["json", "md", "notifications", "junit", "github"]);
    assert!(names.iter().all(|name| Format::find(name).is_some()));
    assert!(Format::find("sarif").is_none());
}
