//! Which of several fit replicas.

use crate::model::server::WatchId;

use super::replica::{ReplicaView, Unfit};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The first fit one takes everything.
    FirstHealthy,
    /// One after the other.
    RoundRobin,
}

#[derive(Clone, Debug)]
pub struct Picker {
    order: Order,
    /// Where the next round begins.
    next: usize,
}

impl Picker {
    pub fn new(order: Order) -> Self {
        Picker { order, next: 0 }
    }

    /// A fit replica, or why the first one looked at is not.
    pub fn pick(
        &mut self,
        replicas: &[ReplicaView],
        is_fit: impl Fn(&ReplicaView) -> Result<(), Unfit>,
    ) -> Result<WatchId, Unfit> {
        let start = match self.order {
            Order::FirstHealthy => 0,
            Order::RoundRobin => self.next,
        };
        let mut why = Unfit::NoReplica;
        for step in 0..replicas.len() {
            let place = (start + step) % replicas.len();
            match is_fit(&replicas[place]) {
                Ok(()) => {
                    self.next = place + 1;
                    return Ok(replicas[place].watch);
                }
                Err(unfit) if step == 0 => why = unfit,
                Err(_) => {}
            }
        }
        Err(why)
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::{lag_ms, replica};
    use super::super::replica::LagLimit;
    use super::*;

    fn picks(order: Order, lags_ms: &[i64]) -> Vec<Result<u32, Unfit>> {
        let mut picker = Picker::new(order);
        let replicas: Vec<_> = (1..)
            .zip(lags_ms)
            .map(|(n, ms)| ReplicaView {
                lag: lag_ms(*ms),
                ..replica(n)
            })
            .collect();
        (0..4)
            .map(|_| picker.pick(&replicas, |view| view.is_fresh(LagLimit::ONE_SECOND)))
            .map(|picked| picked.map(|watch| watch.0))
            .collect()
    }

    #[test]
    fn both_orders_skip_the_unfit() {
        let first = picks(Order::FirstHealthy, &[5_000, 20, 30]);
        assert_eq!(first, [Ok(2), Ok(2), Ok(2), Ok(2)]);
        let robin = picks(Order::RoundRobin, &[10, 5_000, 30]);
        assert_eq!(robin, [Ok(1), Ok(3), Ok(1), Ok(3)]);
    }

    #[test]
    fn nobody_fit_says_why_of_the_first() {
        let over = Unfit::LagOver {
            lag: lag_ms(5_000).value().expect("a lag"),
            limit: LagLimit::ONE_SECOND.span(),
        };
        assert_eq!(picks(Order::FirstHealthy, &[5_000, 6_000])[0], Err(over));
        assert_eq!(picks(Order::RoundRobin, &[])[0], Err(Unfit::NoReplica));
    }
}
