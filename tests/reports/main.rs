//! The field reports R01 to R46 (what goes wrong for people who watch replication), each through the whole path:
//! scripted servers → `mysql` → `monitor` → `app::conductor` → `store` → `lag` and `health`. One module per group of
//! reports; what only real servers can show is in the tests that start them.

#[path = "../support/mod.rs"]
mod support;

mod quiet;

mod a_null_and_spikes;
mod b_names_and_versions;
mod c_threads_and_roles;
mod d_gtids;
mod e_waits;
mod f_semi_sync;
mod g_heartbeat;
mod h_privileges;
mod i_connections;
mod j_sql_and_texts;
mod k_roles_change;
mod l_parallel_and_long;
mod m_commands;
