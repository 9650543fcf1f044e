use super::super::testing::{Journal, What, ends, exit};
use super::*;
use crate::model::{AttemptEnd, Outcome, Reason, RunStatus};

#[test]
fn a_task_is_a_case_and_its_end_an_element() {
    let mut journal = Journal::of(&["ok", "bad", "gone", "blocked"]);
    let stderr = Journal::text(&mut journal, "out/0.err", "first\n<b> & \u{1b}[1m\n");
    journal.run("ok", 1, What::Shell, exit(0));
    journal.run("bad", 1, What::Shell, Outcome { stderr: Some(stderr), ..exit(3) });
    journal.run("gone", 1, What::Shell, ends(AttemptEnd::Killed, Reason::Cancelled));
    journal.ended("blocked", TaskState::Blocked, Some(Reason::Upstream)).finish(RunStatus::Failed, 1);
    assert_eq!(
        journal.render("junit"),
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="audit" tests="4" failures="1" errors="1" skipped="1" time="14.000">
  <testsuite name="audit" tests="4" failures="1" errors="1" skipped="1" time="14.000">
    <testcase name="ok" classname="audit" time="1.200"/>
    <testcase name="bad" classname="audit" time="1.200">
      <failure type="exit_code" message="exit code 3">first
&lt;b&gt; &amp; �[1m</failure>
    </testcase>
    <testcase name="gone" classname="audit" time="0.500">
      <error type="cancelled" message="killed"></error>
    </testcase>
    <testcase name="blocked" classname="audit" time="0.000">
      <skipped message="upstream: blocked"/>
    </testcase>
  </testsuite>
</testsuites>
"#
    );
}

#[test]
fn no_name_ends_its_attribute() {
    assert_eq!(attribute("a\"b<c>\n\t&"), "a&quot;b&lt;c&gt;&#10;&#9;&amp;");
}
