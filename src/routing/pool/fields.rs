//! The five things a pooled connection carries from one user to the next, checked at borrow and at return.

use crate::model::phrase::{Phrase, phrase};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    Transaction,
    ReadOnly,
    Schema,
    Isolation,
    RouteLabel,
}

impl Field {
    pub const ALL: [Field; 5] = [
        Field::Transaction,
        Field::ReadOnly,
        Field::Schema,
        Field::Isolation,
        Field::RouteLabel,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Field::Transaction => "transaction",
            Field::ReadOnly => "read_only",
            Field::Schema => "schema",
            Field::Isolation => "isolation",
            Field::RouteLabel => "route_label",
        }
    }

    pub fn phrase(self) -> Phrase {
        match self {
            Field::Transaction => phrase("routing.field.transaction"),
            Field::ReadOnly => phrase("routing.field.read_only"),
            Field::Schema => phrase("routing.field.schema"),
            Field::Isolation => phrase("routing.field.isolation"),
            Field::RouteLabel => phrase("routing.field.route_label"),
        }
    }
}

/// What a connection was found to be. `None`: it could not be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// A transaction is open.
    pub in_transaction: Option<bool>,
    /// `@@global.read_only` as this connection sees it: its server's role.
    pub read_only: Option<bool>,
    /// `DATABASE()`; empty when none is chosen.
    pub schema: Option<String>,
    /// `@@transaction_isolation`, as the server writes it.
    pub isolation: Option<String>,
    /// The application's own mark of where this session's reads go; empty when there is none.
    pub route_label: Option<String>,
}

/// What every connection of a pool must be when nobody uses it. No transaction and no label, in any pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean {
    pub read_only: bool,
    /// Empty when none is chosen.
    pub schema: String,
    pub isolation: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub field: Field,
    pub expected: String,
    /// `None`: it could not be told, which is not clean.
    pub found: Option<String>,
}

/// Compares all five.
pub fn differences(observed: &Observed, clean: &Clean) -> Vec<Difference> {
    let yes_no = |flag: bool| if flag { "ON" } else { "OFF" }.to_owned();
    let isolation = |text: &str| text.to_uppercase().replace(' ', "-");
    [
        (
            Field::Transaction,
            yes_no(false),
            observed.in_transaction.map(yes_no),
        ),
        (
            Field::ReadOnly,
            yes_no(clean.read_only),
            observed.read_only.map(yes_no),
        ),
        (Field::Schema, clean.schema.clone(), observed.schema.clone()),
        (
            Field::Isolation,
            isolation(&clean.isolation),
            observed.isolation.as_deref().map(isolation),
        ),
        (
            Field::RouteLabel,
            String::new(),
            observed.route_label.clone(),
        ),
    ]
    .into_iter()
    .filter(|(_, expected, found)| found.as_ref() != Some(expected))
    .map(|(field, expected, found)| Difference {
        field,
        expected,
        found,
    })
    .collect()
}

/// A step of cleaning, in the order they are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Rollback,
    /// `COM_RESET_CONNECTION`: also drops temporary tables, locks and user variables.
    ResetSession,
    UseSchema(String),
    SetIsolation(String),
    ClearRouteLabel,
}

/// What is to be done about the differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    Nothing,
    Clean(Vec<Step>),
    /// Cannot be cleaned: its server has another role now, or it does not say what it carries.
    Destroy(Difference),
}

pub fn remedy(differences: &[Difference], clean: &Clean) -> Remedy {
    let hopeless = |d: &&Difference| d.found.is_none() || d.field == Field::ReadOnly;
    if let Some(difference) = differences.iter().find(hopeless) {
        return Remedy::Destroy(difference.clone());
    }
    let mut steps: Vec<Step> = differences
        .iter()
        .flat_map(|difference| steps(difference.field, clean))
        .collect();
    if steps.is_empty() {
        return Remedy::Nothing;
    }
    // A reset puts schema and isolation back to what the login gave, so it comes before they are set.
    steps.sort_by_key(rank);
    steps.dedup();
    Remedy::Clean(steps)
}

fn steps(field: Field, clean: &Clean) -> Vec<Step> {
    let schema = || match clean.schema.is_empty() {
        // A chosen schema cannot be taken back by a statement.
        true => Step::ResetSession,
        false => Step::UseSchema(clean.schema.clone()),
    };
    let isolation = || Step::SetIsolation(clean.isolation.clone());
    match field {
        Field::Transaction => vec![Step::Rollback, Step::ResetSession, schema(), isolation()],
        Field::ReadOnly => Vec::new(),
        Field::Schema if clean.schema.is_empty() => vec![Step::ResetSession, isolation()],
        Field::Schema => vec![schema()],
        Field::Isolation => vec![isolation()],
        Field::RouteLabel => vec![Step::ClearRouteLabel],
    }
}

fn rank(step: &Step) -> u8 {
    match step {
        Step::Rollback => 0,
        Step::ResetSession => 1,
        Step::UseSchema(_) => 2,
        Step::SetIsolation(_) => 3,
        Step::ClearRouteLabel => 4,
    }
}

#[cfg(test)]
pub mod build {
    use super::*;

    pub fn clean_source() -> Clean {
        Clean {
            read_only: false,
            schema: "shop".to_owned(),
            isolation: "REPEATABLE-READ".to_owned(),
        }
    }

    pub fn observed(clean: &Clean) -> Observed {
        Observed {
            in_transaction: Some(false),
            read_only: Some(clean.read_only),
            schema: Some(clean.schema.clone()),
            isolation: Some(clean.isolation.clone()),
            route_label: Some(String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::build::{clean_source, observed};
    use super::*;

    fn remedy_of(change: impl FnOnce(&mut Observed)) -> Remedy {
        let clean = clean_source();
        let mut found = observed(&clean);
        change(&mut found);
        remedy(&differences(&found, &clean), &clean)
    }

    #[test]
    fn a_clean_connection_needs_nothing_whatever_the_spelling() {
        assert_eq!(remedy_of(|_| {}), Remedy::Nothing);
        let spelled = |o: &mut Observed| o.isolation = Some("Repeatable read".to_owned());
        assert_eq!(remedy_of(spelled), Remedy::Nothing);
    }

    #[test]
    fn each_field_has_its_remedy() {
        let to_schema = || Step::UseSchema("shop".to_owned());
        let to_isolation = || Step::SetIsolation("REPEATABLE-READ".to_owned());
        assert_eq!(
            remedy_of(|o| o.in_transaction = Some(true)),
            Remedy::Clean(vec![
                Step::Rollback,
                Step::ResetSession,
                to_schema(),
                to_isolation()
            ])
        );
        assert_eq!(
            remedy_of(|o| o.schema = Some("archive".to_owned())),
            Remedy::Clean(vec![to_schema()])
        );
        assert_eq!(
            remedy_of(|o| o.isolation = Some("READ-COMMITTED".to_owned())),
            Remedy::Clean(vec![to_isolation()])
        );
        assert_eq!(
            remedy_of(|o| o.route_label = Some("read_write".to_owned())),
            Remedy::Clean(vec![Step::ClearRouteLabel])
        );
    }

    #[test]
    fn another_role_cannot_be_cleaned() {
        assert_eq!(
            remedy_of(|o| o.read_only = Some(true)),
            Remedy::Destroy(Difference {
                field: Field::ReadOnly,
                expected: "OFF".to_owned(),
                found: Some("ON".to_owned()),
            })
        );
    }

    #[test]
    fn what_cannot_be_told_is_not_clean() {
        type Unsay = fn(&mut Observed);
        let unsaid: [(Field, Unsay); 5] = [
            (Field::Transaction, |o| o.in_transaction = None),
            (Field::ReadOnly, |o| o.read_only = None),
            (Field::Schema, |o| o.schema = None),
            (Field::Isolation, |o| o.isolation = None),
            (Field::RouteLabel, |o| o.route_label = None),
        ];
        for (field, change) in unsaid {
            let Remedy::Destroy(difference) = remedy_of(change) else {
                panic!("{field:?} kept");
            };
            assert_eq!((difference.field, difference.found), (field, None));
        }
    }

    #[test]
    fn a_chosen_schema_is_given_back_by_a_reset_before_anything_is_set() {
        let clean = Clean {
            schema: String::new(),
            ..clean_source()
        };
        let found = Observed {
            schema: Some("shop".to_owned()),
            isolation: Some("SERIALIZABLE".to_owned()),
            ..observed(&clean)
        };
        assert_eq!(
            remedy(&differences(&found, &clean), &clean),
            Remedy::Clean(vec![
                Step::ResetSession,
                Step::SetIsolation("REPEATABLE-READ".to_owned())
            ])
        );
    }
}
