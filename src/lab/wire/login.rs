//! Greeting, login and the exchange that proves the password.

use super::packet::{Fields, Packets};
use super::password::{AuthPlugin, Salt, open_envelope, public_key_pem, random_salt};
use super::tls::{Stream, Tls, Tunnel};
use super::{Account, Greeting, Hello, SqlError};
use std::collections::BTreeMap;
use std::io;

mod capability {
    pub const LONG_PASSWORD: u32 = 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const SSL: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    pub const PLUGIN_AUTH_LENENC_DATA: u32 = 1 << 21;
    pub const SESSION_TRACK: u32 = 1 << 23;

    /// What this server can do. Without DEPRECATE_EOF: results end with EOF packets.
    pub const OFFERED: u32 = LONG_PASSWORD
        | LONG_FLAG
        | CONNECT_WITH_DB
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_STATEMENTS
        | MULTI_RESULTS
        | PLUGIN_AUTH
        | CONNECT_ATTRS
        | PLUGIN_AUTH_LENENC_DATA
        | SESSION_TRACK;
}

/// What the client wrote in answer to the greeting.
#[derive(Debug, Default, PartialEq)]
pub struct Login {
    capabilities: u32,
    pub user: String,
    pub database: Option<String>,
    pub attributes: BTreeMap<String, String>,
    /// Empty: older clients do not name one.
    plugin: String,
    proof: Vec<u8>,
}

impl Login {
    pub fn session_track(&self) -> bool {
        self.capabilities & capability::SESSION_TRACK != 0
    }

    pub fn multi_statements(&self) -> bool {
        self.capabilities & capability::MULTI_STATEMENTS != 0
    }

    pub fn hello(&self, connection_id: u32, tunnel: Option<Tunnel>) -> Hello {
        Hello {
            connection_id,
            tunnel,
            user: self.user.clone(),
            database: self.database.clone(),
            attributes: self.attributes.clone(),
        }
    }

    /// The client wants to be served as somebody else, over the same connection: COM_CHANGE_USER.
    pub fn change(&self, argument: &[u8]) -> Option<Login> {
        let mut fields = Fields::of(argument);
        let user = text(fields.zero_terminated()?);
        let proof = fields.sized()?.to_vec();
        let database = Some(text(fields.zero_terminated()?)).filter(|name| !name.is_empty());
        let mut login = Login {
            capabilities: self.capabilities,
            user,
            database,
            proof,
            ..Login::default()
        };
        if !fields.is_empty() {
            fields.bytes(2)?; // character set
            login.plugin = text(fields.zero_terminated()?);
        }
        if !fields.is_empty() {
            login.attributes = parse_attributes(fields.string()?)?;
        }
        Some(login)
    }

    fn parse(payload: &[u8]) -> Option<Login> {
        let mut fields = Fields::of(payload);
        let capabilities = fields.u32()? & capability::OFFERED;
        let can = |flag| capabilities & flag != 0;
        fields.bytes(4 + 1 + 23)?; // largest packet, character set, reserved
        if !can(capability::PROTOCOL_41) {
            return None;
        }
        let user = text(fields.zero_terminated()?);
        let proof = if can(capability::PLUGIN_AUTH_LENENC_DATA) {
            fields.string()?
        } else {
            let length = fields.u8()?;
            fields.bytes(length.into())?
        };
        let database = match can(capability::CONNECT_WITH_DB) {
            true => Some(text(fields.zero_terminated()?)).filter(|name| !name.is_empty()),
            false => None,
        };
        let plugin = match can(capability::PLUGIN_AUTH) {
            true => text(fields.zero_terminated()?),
            false => String::new(),
        };
        let attributes = match can(capability::CONNECT_ATTRS) {
            true => parse_attributes(fields.string()?)?,
            false => BTreeMap::new(),
        };
        Some(Login {
            capabilities,
            user,
            database,
            attributes,
            plugin,
            proof: proof.to_vec(),
        })
    }
}

fn parse_attributes(block: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut fields = Fields::of(block);
    let mut attributes = BTreeMap::new();
    while !fields.is_empty() {
        attributes.insert(text(fields.string()?), text(fields.string()?));
    }
    Some(attributes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sends the greeting and reads who comes; the salt is needed again to check the password.
pub fn greet(
    packets: &mut Packets<Stream>,
    greeting: &Greeting,
    tls: Option<&Tls>,
    connection_id: u32,
) -> io::Result<Result<(Login, Salt), SqlError>> {
    let salt = random_salt();
    let offered = capability::OFFERED | if tls.is_some() { capability::SSL } else { 0 };
    packets.send(&greeting_packet(greeting, offered, connection_id, &salt));
    let mut first = packets.read()?;
    if let Some(tls) = tls
        && wants_tls(&first)
    {
        packets.stream_mut()?.secure(tls)?;
        first = packets.read()?;
    }
    let login = Login::parse(&first);
    Ok(login
        .map(|login| (login, salt))
        .ok_or_else(|| SqlError::new(1043, "Bad handshake")))
}

/// A login that ends before the user's name and asks for TLS: the rest follows encrypted.
fn wants_tls(payload: &[u8]) -> bool {
    const LENGTH: usize = 4 + 4 + 1 + 23;
    payload.len() == LENGTH
        && Fields::of(payload)
            .u32()
            .is_some_and(|capabilities| capabilities & capability::SSL != 0)
}

fn greeting_packet(greeting: &Greeting, offered: u32, connection_id: u32, salt: &Salt) -> Vec<u8> {
    const PROTOCOL_VERSION: u8 = 10;
    const UTF8MB4: u8 = 45;
    const AUTOCOMMIT: u16 = 2;
    let (low, high) = (offered as u16, (offered >> 16) as u16);
    let mut packet = vec![PROTOCOL_VERSION];
    packet.extend(greeting.version.bytes().filter(|byte| *byte != 0));
    packet.push(0);
    packet.extend(connection_id.to_le_bytes());
    packet.extend(&salt[..8]);
    packet.push(0);
    packet.extend(low.to_le_bytes());
    packet.push(UTF8MB4);
    packet.extend(AUTOCOMMIT.to_le_bytes());
    packet.extend(high.to_le_bytes());
    packet.push(salt.len() as u8 + 1);
    packet.extend([0; 10]);
    packet.extend(&salt[8..]);
    packet.push(0);
    packet.extend(greeting.plugin.name().as_bytes());
    packet.push(0);
    packet
}

/// Lets the client prove that it knows the password of `account`. A name without account goes through the same motions
/// with the plugin of the greeting, so that it cannot be told from a wrong password.
pub fn authenticate(
    packets: &mut Packets<Stream>,
    login: &Login,
    greeted_salt: Salt,
    account: Option<&Account>,
    greeting: &Greeting,
) -> io::Result<Result<(), SqlError>> {
    let plugin = account.map_or(greeting.plugin, |account| account.plugin);
    let (mut proof, mut salt) = (login.proof.clone(), greeted_salt);
    if login.plugin != plugin.name() {
        salt = random_salt();
        packets.send(&switch_packet(plugin, &salt));
        proof = packets.read()?;
    }
    // An empty password: some clients send nothing for it, some the zero at its end.
    if proof == [0] {
        proof.clear();
    }
    let uses_password = !proof.is_empty();
    let proved =
        account.is_some_and(|account| proof == plugin.scramble(account.password.as_bytes(), &salt));
    let known = match plugin {
        AuthPlugin::MysqlNativePassword => proved,
        // An empty password needs no envelope: nothing to hide.
        AuthPlugin::CachingSha2Password if !uses_password => proved,
        AuthPlugin::CachingSha2Password
            if proved && account.is_some_and(|account| account.cached) =>
        {
            const FAST_AUTH_SUCCESS: [u8; 2] = [1, 3];
            packets.send(&FAST_AUTH_SUCCESS);
            true
        }
        // Not in the cache, or not the password in the cache: servers ask for the whole password in both cases.
        AuthPlugin::CachingSha2Password => {
            let password = ask_for_password(packets, &salt)?;
            password.is_some()
                && password.as_deref() == account.map(|account| account.password.as_bytes())
        }
    };
    Ok(known
        .then_some(())
        .ok_or_else(|| denied(&login.user, uses_password)))
}

fn switch_packet(plugin: AuthPlugin, salt: &Salt) -> Vec<u8> {
    let mut packet = vec![0xfe];
    packet.extend(plugin.name().as_bytes());
    packet.push(0);
    packet.extend(salt);
    packet.push(0);
    packet
}

/// Full authentication. Over TLS the password comes as it is; over plain TCP the client seals it with our public key, which
/// it may already have or asks for. `None`: it sent something else.
fn ask_for_password(packets: &mut Packets<Stream>, salt: &Salt) -> io::Result<Option<Vec<u8>>> {
    const PERFORM_FULL_AUTHENTICATION: [u8; 2] = [1, 4];
    const REQUEST_PUBLIC_KEY: [u8; 1] = [2];
    packets.send(&PERFORM_FULL_AUTHENTICATION);
    let mut sealed = packets.read()?;
    if packets.stream().is_secure() {
        return Ok(sealed.strip_suffix(&[0]).map(<[u8]>::to_vec));
    }
    if sealed == REQUEST_PUBLIC_KEY {
        let Some(pem) = public_key_pem() else {
            return Ok(None);
        };
        let mut packet = vec![1];
        packet.extend(pem.as_bytes());
        packets.send(&packet);
        sealed = packets.read()?;
    }
    Ok(open_envelope(&sealed, salt))
}

fn denied(user: &str, uses_password: bool) -> SqlError {
    let using = if uses_password { "YES" } else { "NO" };
    SqlError::new(
        1045,
        format!("Access denied for user '{user}'@'127.0.0.1' (using password: {using})"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::wire::packet::put_string;

    fn login_bytes() -> Vec<u8> {
        let mut bytes = (capability::OFFERED | 0x800).to_le_bytes().to_vec(); // 0x800: TLS, which was not offered
        bytes.extend([0; 28]);
        bytes.extend(b"monitor\0");
        put_string(&mut bytes, b"proof");
        bytes.extend(b"shop\0caching_sha2_password\0");
        let mut attributes = Vec::new();
        put_string(&mut attributes, b"program_name");
        put_string(&mut attributes, b"test");
        put_string(&mut bytes, &attributes);
        bytes
    }

    #[test]
    fn a_login_is_read_with_database_and_attributes() {
        assert_eq!(
            Login::parse(&login_bytes()),
            Some(Login {
                capabilities: capability::OFFERED,
                user: "monitor".into(),
                database: Some("shop".into()),
                attributes: BTreeMap::from([("program_name".into(), "test".into())]),
                plugin: "caching_sha2_password".into(),
                proof: b"proof".to_vec(),
            })
        );
    }

    #[test]
    fn a_login_cut_short_anywhere_is_no_login() {
        let whole = login_bytes();
        for length in 0..whole.len() {
            assert_eq!(Login::parse(&whole[..length]), None, "cut at {length}");
        }
    }
}
