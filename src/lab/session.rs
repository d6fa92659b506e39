//! Sessions on the lab's own servers, wherever they came from.

use std::net::Ipv4Addr;
use std::time::Duration;

use crate::model::lab::LabAccount;
use crate::model::trouble::Trouble;
use crate::mysql::hand::Hand;
use crate::mysql::{Address, Dialer, Endpoint};

/// `limit`: how long any answer may take.
pub fn open(port: u16, account: &LabAccount, limit: Duration) -> Result<Hand, Trouble> {
    let address = Address::Tcp {
        host: Ipv4Addr::LOCALHOST.to_string(),
        port,
    };
    let password = account.password.expose();
    let endpoint = Endpoint::new(address, account.user, Some(password));
    Hand::open(&Dialer::new(endpoint), limit)
}
