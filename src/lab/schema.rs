//! What stands on a lab's servers before the first client comes: the shop, and the heartbeat with its event.

const SHOP: [&str; 2] = [
    "CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4",
    "CREATE TABLE IF NOT EXISTS shop.orders (\
     id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, address VARCHAR(200) NOT NULL, \
     status VARCHAR(20) NOT NULL, amount DECIMAL(10,2) NOT NULL, \
     created_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), \
     updated_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))",
];

/// One row for each server that ever was a source. A TIMESTAMP means the same in every session's time zone.
const HEARTBEAT: [&str; 2] = [
    "CREATE DATABASE IF NOT EXISTS replicascope",
    "CREATE TABLE IF NOT EXISTS replicascope.heartbeat (\
     server_id INT UNSIGNED NOT NULL PRIMARY KEY, ts TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))",
];

/// Written as `monitor`: what an administrator's event writes, MariaDB's `read_only` would not stop after the roles were
/// swapped.
pub(super) const HEARTBEAT_EVENT: &str = "CREATE DEFINER = 'monitor'@'%' EVENT IF NOT EXISTS replicascope.heartbeat ON \
     SCHEDULE EVERY 1 SECOND DO INSERT INTO replicascope.heartbeat (server_id, ts) VALUES (@@server_id, NOW(6)) \
     ON DUPLICATE KEY UPDATE ts = NOW(6)";

/// Schemas and tables, empty.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    SHOP.into_iter().chain(HEARTBEAT)
}

/// Everything for a real source, to be said by `admin`. Of several sources the first writes the orders for all: the others
/// have the same rows, and a replica of both must not get them twice.
pub(super) fn statements(source: usize) -> Vec<String> {
    let mut said: Vec<String> = tables()
        .chain([HEARTBEAT_EVENT])
        .map(str::to_owned)
        .collect();
    let orders = orders();
    if source == 0 {
        said.push(orders);
    } else {
        said.extend([
            "SET sql_log_bin = 0".to_owned(),
            orders,
            "SET sql_log_bin = 1".to_owned(),
        ]);
    }
    said
}

/// The first orders in one short statement; numbered, since two sources number new rows apart.
pub(super) fn orders() -> String {
    let digits: Vec<String> = (0..10)
        .map(|digit| format!("SELECT {digit} AS d"))
        .collect();
    let digits = digits.join(" UNION ALL ");
    format!(
        "INSERT INTO shop.orders (id, customer, address, status, amount) SELECT n, 1 + n * 7919 % 200, \
         CONCAT(1 + n * 37 % 199, ' ', ELT(1 + n * 17 % 6, {STREETS})), ELT(1 + n * 31 % 4, {STATES}), \
         5 + n * 104729 % 99500 / 100 FROM (SELECT 1 + a.d + 10 * b.d + 100 * c.d AS n \
         FROM ({digits}) AS a CROSS JOIN ({digits}) AS b CROSS JOIN ({digits}) AS c) AS numbers ORDER BY n"
    )
}

const STREETS: &str =
    "'Canal Street', 'Harbour Road', 'Mill Lane', 'Station Street', 'Garden Way', '人民路'";
const STATES: &str = "'new', 'paid', 'shipped', 'delivered'";
