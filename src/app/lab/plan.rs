//! From the command line to the plan of a lab.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::cli::{LabArgs, ShapeArg};
use crate::lab::lessons;
use crate::model::lab::{Ground, LabPlan, MOST_REAL_REPLICAS, Shape};
use crate::model::lesson::{Lesson, Servers};
use crate::model::phrase::{Phrase, phrase};
use crate::model::server::Flavour;
use crate::model::time::Span;

/// The delayed replica's delay, where none is given.
const USUAL_DELAY: Span = Span::from_secs(10);

/// A lab to be started: its plan, and a server program the person named.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub plan: LabPlan,
    pub program: Option<PathBuf>,
}

/// The lesson that is named, if one is.
pub fn lesson(args: &LabArgs) -> Result<Option<Arc<Lesson>>, Phrase> {
    let Some(id) = &args.lesson else {
        return Ok(None);
    };
    let found = lessons::find(id, Servers::default());
    let none = || phrase("lab_screen.cli.no_lesson").with("id", id.as_str());
    found.map(Some).ok_or_else(none)
}

/// The usual lab, or the one a lesson is taught on.
pub fn plan_for(lesson: Option<&Lesson>) -> LabPlan {
    lesson.map_or_else(LabPlan::default, |lesson| lesson.lab.plan.clone())
}

/// `plan` is the usual one, or a lesson's; what is said on the command line comes before it.
pub fn wanted(args: &LabArgs, plan: LabPlan) -> Result<Wanted, Phrase> {
    let mut plan = plan;
    let mut program = None;
    if let Some(generation) = args.generation {
        plan.ground = Ground::Simulated(generation);
    }
    if let Some(real) = &args.real {
        let (flavour, path) = real_servers(real);
        plan.ground = Ground::Real(flavour);
        program = path;
    }
    plan.shape = shape(args, plan.shape)?;
    plan.replicas = args.replicas.unwrap_or(plan.replicas);
    let is_real = matches!(plan.ground, Ground::Real(_));
    if is_real && plan.replicas > MOST_REAL_REPLICAS {
        return Err(phrase("lab_screen.cli.too_many").with("n", u64::from(MOST_REAL_REPLICAS)));
    }
    if is_real && args.tls {
        return Err(phrase("lab_screen.tls.simulated_only"));
    }
    plan.semi_sync &= !args.no_semi_sync;
    plan.tls |= args.tls;
    plan.seed = args.seed.unwrap_or(plan.seed);
    let traffic = &mut plan.traffic;
    traffic.writes_per_second = args.writes.unwrap_or(traffic.writes_per_second);
    traffic.reads_per_second = args.reads.unwrap_or(traffic.reads_per_second);
    Ok(Wanted { plan, program })
}

fn shape(args: &LabArgs, before: Shape) -> Result<Shape, Phrase> {
    let delayed = Shape::Delayed {
        delay: args.delay.unwrap_or(USUAL_DELAY),
    };
    let shape = match args.shape {
        None => before,
        Some(ShapeArg::Fan) => Shape::Fan,
        Some(ShapeArg::Chain) => Shape::Chain,
        Some(ShapeArg::MultiSource) => Shape::MultiSource,
        Some(ShapeArg::Delayed) => delayed,
    };
    match (args.delay, shape) {
        (Some(_), Shape::Delayed { .. }) => Ok(delayed),
        (Some(_), _) => Err(phrase("lab_screen.cli.delay_needs_shape")),
        (None, shape) => Ok(shape),
    }
}

/// A flavour by its name, or the program that is named.
fn real_servers(text: &str) -> (Flavour, Option<PathBuf>) {
    match text {
        "mysql" => (Flavour::MySql, None),
        "mariadb" => (Flavour::MariaDb, None),
        "" => (super::programs::installed_flavour(), None),
        path => {
            let path = Path::new(path).to_owned();
            (super::programs::flavour_of(&path), Some(path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::lab::Generation;

    #[test]
    fn nothing_said_is_the_usual_lab() {
        let wanted = wanted(&LabArgs::default(), LabPlan::default()).unwrap();
        assert_eq!((wanted.plan, wanted.program), (LabPlan::default(), None));
    }

    #[test]
    fn what_is_said_comes_before_what_a_lesson_wants() {
        let lesson = LabPlan {
            replicas: 1,
            semi_sync: true,
            seed: 7,
            ..LabPlan::default()
        };
        let args = LabArgs {
            generation: Some(Generation::MySql57),
            no_semi_sync: true,
            writes: Some(0.0),
            delay: Some(Span::from_secs(30)),
            shape: Some(ShapeArg::Delayed),
            ..LabArgs::default()
        };
        let plan = wanted(&args, lesson).unwrap().plan;
        assert_eq!(plan.ground, Ground::Simulated(Generation::MySql57));
        assert_eq!((plan.replicas, plan.seed, plan.semi_sync), (1, 7, false));
        assert_eq!(plan.traffic.writes_per_second, 0.0);
        let delay = Span::from_secs(30);
        assert_eq!(plan.shape, Shape::Delayed { delay });
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let delay = Some(Span::from_secs(5));
        let no_shape = LabArgs {
            delay,
            ..LabArgs::default()
        };
        assert!(wanted(&no_shape, LabPlan::default()).is_err());
        let many = LabArgs {
            real: Some("mysql".into()),
            replicas: Some(9),
            ..LabArgs::default()
        };
        assert!(wanted(&many, LabPlan::default()).is_err());
    }

    #[test]
    fn a_program_is_told_by_its_name() {
        let (flavour, path) = real_servers("/opt/mariadb/sbin/mariadbd");
        assert_eq!(flavour, Flavour::MariaDb);
        assert!(path.is_some());
        assert_eq!(real_servers("mysql"), (Flavour::MySql, None));
    }
}
