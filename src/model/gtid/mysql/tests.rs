use super::super::error::GtidProblem;
use super::super::sid::Tag;
use super::*;

const A: &str = "00021324-1111-1111-1111-111111111111";
const B: &str = "44fe5a28-517e-11eb-abdc-1273b9da759b";

fn set(text: &str) -> GtidSet {
    GtidSet::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// `$A` and `$B` stand for the UUIDs.
fn spelled(text: &str) -> String {
    text.replace("$A", A).replace("$B", B)
}

fn sid(uuid: &str) -> Sid {
    Sid::untagged(Uuid::parse(uuid).expect("a UUID"))
}

/// What MySQL 9.7.4 answered to `GTID_SUBTRACT(text, '')`.
#[test]
fn text_is_read_as_the_server_reads_it() {
    for (text, answer) in [
        ("", ""),
        (" ,,\n", ""),
        (",,$B:1,,", "$B:1"),
        ("$B:01-003", "$B:1-3"),
        ("{$B}:1", "$B:1"),
        ("44FE5A28517e11ebABDC1273b9da759b:1", "$B:1"),
        ("$B:1-50:mysqlsh:1-3", "$B:1-50:mysqlsh:1-3"),
        ("$B:mysqlsh:1-3:1-5:b:1", "$B:b:1:mysqlsh:1-5"),
        ("$B:MySQLsh:1-3, $B:mysqlsh:7", "$B:mysqlsh:1-3:7"),
        ("$B:1-3:a:1:1-3, $B:4,$B:a:2", "$B:1-4:a:1-3"),
        ("$B : tag : 1 - 3 : 5", "$B:tag:1-3:5"),
        ("$B:1- 3:2-9:9-12,  \t\n$B:14", "$B:1-12:14"),
        ("$B:\u{b}1\u{c}", "$B:1"),
        ("$B:1-9223372036854775806", "$B:1-9223372036854775806"),
        ("$B:_a:1:A_:2:z:1:b:1:1,$A:1", "$A:1,$B:_a:1:a_:2:b:1:z:1"),
        (
            "$B:a2345678901234567890123456789012:1",
            "$B:a2345678901234567890123456789012:1",
        ),
    ] {
        assert_eq!(
            GtidSet::parse(&spelled(text)).map(|s| s.to_string()),
            Ok(spelled(answer)),
            "{text}"
        );
    }
}

/// Refused by MySQL 9.7.4 too, at the same places; but for the last five, of which it reads nothing without a word.
#[test]
fn r17_what_is_no_set_is_an_error_with_its_text_and_never_an_empty_set() {
    use GtidProblem::*;
    for (text, at, problem) in [
        ("$B:", 37, ExpectedNumberOrTag),
        ("$B:1:", 39, ExpectedNumberOrTag),
        ("$B::1", 37, ExpectedNumberOrTag),
        ("$B:+1", 37, ExpectedNumberOrTag),
        ("$B:-3", 37, ExpectedNumberOrTag),
        ("$B:1-", 39, ExpectedNumber),
        ("$B:tag:", 41, ExpectedNumber),
        ("$B:1 3", 39, ExpectedComma),
        ("$B:1;", 38, ExpectedComma),
        ("$B:1\n$B:2", 39, ExpectedComma),
        ("$B:0-3", 37, NumberOutOfRange),
        ("$B:9223372036854775807", 37, NumberOutOfRange),
        ("$B:1-9223372036854775807", 39, NumberOutOfRange),
        ("$B:1-18446744073709551617", 39, NumberOutOfRange),
        ("$B:tag 1:1", 41, ExpectedColon),
        ("$B:tag-1:1", 40, ExpectedColon),
        ("$B:a23456789012345678901234567890123:1", 37, TagTooLong),
        ("$B:1:2,3", 42, ExpectedUuid),
        (
            "  44fe5a28 -517e-11eb-abdc-1273b9da759b:1",
            10,
            ExpectedUuid,
        ),
        ("$Bé:1", 36, ExpectedColon),
        ("$B:1é", 38, ExpectedComma),
        ("\0", 0, ExpectedUuid),
        ("NULL", 0, ExpectedUuid),
        ("$B:5-3:7", 37, ReversedInterval),
        ("$B", 36, ExpectedColon),
        ("$B:tag", 40, ExpectedColon),
        ("$B:1:tag", 42, ExpectedColon),
        ("$B:a:b:1", 39, ExpectedNumber),
    ] {
        let text = spelled(text);
        let error = GtidError {
            problem,
            at,
            text: text.clone(),
        };
        assert_eq!(GtidSet::parse(&text), Err(error), "{text:?}");
    }
}

#[test]
fn r15_the_same_uuid_twice_is_one_sequence() {
    let twice = set(&spelled("$A:100-200,$A:300-400"));
    assert_eq!(twice, set(&spelled("$A:100-200:300-400")));
    assert_eq!(twice.count(), 202);
    assert_eq!(twice.to_string(), spelled("$A:100-200:300-400"));
    let apart = set(&spelled("$B:1, $A:300-400, $B:2, $A:100-200"));
    assert_eq!(apart.to_string(), spelled("$A:100-200:300-400,$B:1-2"));
}

#[test]
fn r16_white_space_around_any_separator_is_ignored() {
    let first = "2e35321d-0000-4000-8000-000000000001";
    let second = "314306f3-ff7b-4000-8000-000000000002";
    let wanted = format!("{first}:1-37729572,\n{second}:1-2734181");
    for text in [
        wanted.clone(),
        wanted.replace('\n', "\r\n"),
        wanted.replace('\n', "\\n"),
        format!("\t{first} :\t1 -\r37729572 ,\n\n {second}\n:\n1-2734181\r\n"),
    ] {
        let set = set(&text);
        assert_eq!(
            (set.iter().count(), set.count()),
            (2, 40_463_753),
            "{text:?}"
        );
        assert_eq!(set.pretty(), wanted, "{text:?}");
    }
}

#[test]
fn r17_a_tag_makes_a_sequence_of_its_own() {
    let tagged = set(&spelled("$B:1-50:mysqlsh:1-3"));
    let plain = set(&spelled("$B:1-50"));
    let tag = Sid::tagged(sid(B).uuid, Tag::named("MYSQLSH").expect("a tag"));
    assert_eq!(tagged.count(), 53);
    assert_eq!(
        (tagged.last(&sid(B)), tagged.last(&tag)),
        (Some(50), Some(3))
    );
    assert_eq!(plain.last(&tag), None);
    assert!(tagged.contains(&plain) && !plain.contains(&tagged));
    assert!(!plain.contains(&set(&spelled("$B:mysqlsh:1"))));
    assert_eq!(tagged.subtract(&plain), set(&spelled("$B:mysqlsh:1-3")));
    assert_eq!(
        tagged.intersect(&set(&spelled("$B:mysqlsh:2-60"))),
        set(&spelled("$B:mysqlsh:2-3"))
    );
    assert_eq!(tagged.pretty(), spelled("$B:1-50:mysqlsh:1-3"));
    assert!(tagged.without(&sid(B).uuid).is_empty());
    assert_eq!(tagged.only(&sid(B).uuid), tagged);
}

#[test]
fn r21_the_empty_set_is_recognised_before_anyone_waits_for_it() {
    for text in ["", "  \r\n\t", ","] {
        let set = set(text);
        assert!(set.is_empty());
        assert_eq!(
            (set.count(), set.interval_count(), set.to_string()),
            (0, 0, String::new())
        );
    }
    let some = set(&spelled("$A:1-5"));
    assert!(some.subtract(&some).is_empty());
    assert!(some.beyond(&some).is_empty());
    assert_eq!(some.subtract(&some), GtidSet::new());
}

#[test]
fn sets_are_combined_across_the_edges_of_intervals_and_uuids() {
    // a, b, a ∪ b, a − b, a ∩ b
    for (a, b, union, subtract, intersect) in [
        ("$A:1-5", "$A:6-9", "$A:1-9", "$A:1-5", ""),
        ("$A:1-5", "$A:5-9", "$A:1-9", "$A:1-4", "$A:5"),
        ("$A:1-9", "$A:2:4-5:9", "$A:1-9", "$A:1:3:6-8", "$A:2:4-5:9"),
        (
            "$A:1-3:7-9:20",
            "$A:3-7:30",
            "$A:1-9:20:30",
            "$A:1-2:8-9:20",
            "$A:3:7",
        ),
        ("$A:2:4:6", "$A:1-10", "$A:1-10", "", "$A:2:4:6"),
        ("$A:1", "$B:1", "$A:1,$B:1", "$A:1", ""),
        ("$B:1", "$A:1,$B:2", "$A:1,$B:1-2", "$B:1", ""),
        ("", "$A:1", "$A:1", "", ""),
        (
            "$A:1-9223372036854775806",
            "$A:2-9223372036854775805",
            "$A:1-9223372036854775806",
            "$A:1:9223372036854775806",
            "$A:2-9223372036854775805",
        ),
    ] {
        let (x, y) = (set(&spelled(a)), set(&spelled(b)));
        assert_eq!(x.union(&y), set(&spelled(union)), "{a} ∪ {b}");
        assert_eq!(x.subtract(&y), set(&spelled(subtract)), "{a} − {b}");
        assert_eq!(x.intersect(&y), set(&spelled(intersect)), "{a} ∩ {b}");
        assert_eq!(x.missing_from(&y), x.subtract(&y).count(), "{a} − {b}");
    }
}

#[test]
fn counting_past_64_bits_stays_at_the_largest_number() {
    let all = "1-9223372036854775806";
    let huge = set(&format!("{A}:{all},{B}:{all}:t:{all}"));
    assert_eq!(huge.count(), u64::MAX);
    assert_eq!(huge.missing_from(&GtidSet::new()), u64::MAX);
}

#[test]
fn what_lies_beyond_leaves_permanent_holes_out() {
    let source = set(&spelled("$A:1-800,$B:1-3"));
    let executed = set(&spelled("$A:1-794:796-797"));
    assert_eq!(source.beyond(&executed), set(&spelled("$A:798-800,$B:1-3")));
    assert_eq!(source.subtract(&executed).count(), 1 + 3 + 3);
    assert_eq!(executed.holes(), set(&spelled("$A:795")));
    assert!(source.holes().is_empty());
    assert_eq!(set(&spelled("$A:3-4:8")).holes(), set(&spelled("$A:5-7")));
    assert_eq!(
        set(&spelled("$A:1-2:5-9")).beyond(&set(&spelled("$A:6"))),
        set(&spelled("$A:7-9"))
    );
}

#[test]
fn a_set_takes_in_another() {
    let mut executed = set(&spelled("$A:1-5"));
    executed.union_with(&GtidSet::of(sid(A), Interval::new(6, 7).expect("in range")));
    executed.union_with(&set(&spelled("$B:1")));
    assert_eq!(executed, set(&spelled("$A:1-7,$B:1")));
    executed.subtract_with(&set(&spelled("$A:2")));
    assert_eq!(executed, set(&spelled("$A:1:3-7,$B:1")));
}
