//! The lessons against the rest of the program: what they name exists.

use std::collections::BTreeSet;

use replicascope::health;
use replicascope::lab::lessons;

#[test]
fn every_finding_a_lesson_waits_for_is_one_that_can_be_raised() {
    let codes: BTreeSet<&str> = health::RULES.iter().map(|rule| rule.code).collect();
    for lesson in lessons::all() {
        for code in lesson.findings() {
            assert!(codes.contains(code), "{}: no finding `{code}`", lesson.id);
        }
    }
}
