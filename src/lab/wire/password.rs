//! Passwords on the wire: the two scrambles, and the RSA envelope of caching_sha2_password over plain TCP.

use rsa::Generate;
use rsa::pkcs8::{EncodePublicKey, LineEnding};
use rsa::rand_core::{TryCryptoRng, TryRng};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// Twenty random bytes of a greeting. Never zero and never `$`: both end the salt for some clients.
pub type Salt = [u8; 20];

pub fn random_salt() -> Salt {
    std::array::from_fn(|_| match fastrand::u8(1..0x7f) {
        b'$' => b'%',
        byte => byte,
    })
}

/// How an account proves its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthPlugin {
    CachingSha2Password,
    MysqlNativePassword,
}

impl AuthPlugin {
    pub fn name(self) -> &'static str {
        match self {
            AuthPlugin::CachingSha2Password => "caching_sha2_password",
            AuthPlugin::MysqlNativePassword => "mysql_native_password",
        }
    }

    /// What a client sends that knows the password.
    pub fn scramble(self, password: &[u8], salt: &Salt) -> Vec<u8> {
        if password.is_empty() {
            return Vec::new();
        }
        match self {
            AuthPlugin::CachingSha2Password => {
                let once = Sha256::digest(password);
                let twice = Sha256::digest(once);
                xor(
                    &once,
                    &Sha256::new()
                        .chain_update(twice)
                        .chain_update(salt)
                        .finalize(),
                )
            }
            AuthPlugin::MysqlNativePassword => {
                let once = Sha1::digest(password);
                let twice = Sha1::digest(once);
                xor(
                    &once,
                    &Sha1::new()
                        .chain_update(salt)
                        .chain_update(twice)
                        .finalize(),
                )
            }
        }
    }
}

/// `mask` is repeated as often as needed.
fn xor(bytes: &[u8], mask: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .zip(mask.iter().cycle())
        .map(|(byte, mask)| byte ^ mask)
        .collect()
}

/// The key pair with which clients hide a password from listeners, made when the first client asks. `None` when the
/// system has no random numbers to give.
fn key() -> Option<&'static rsa::PrivateKey> {
    // The library's default size takes seconds to make in a debug build; a client would give up waiting.
    const KEY_BITS: usize = 2048;
    static KEY: OnceLock<Option<rsa::PrivateKey>> = OnceLock::new();
    KEY.get_or_init(|| rsa::PrivateKey::new(&mut SystemRandom, KEY_BITS).ok())
        .as_ref()
}

/// The system's random numbers, in the shape that making a key of a chosen size wants.
struct SystemRandom;

impl TryRng for SystemRandom {
    type Error = std::io::Error;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        u32::try_generate().map_err(std::io::Error::other)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        u64::try_generate().map_err(std::io::Error::other)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for SystemRandom {}

pub fn public_key_pem() -> Option<String> {
    key()?
        .to_public_key()
        .to_public_key_pem(LineEnding::LF)
        .ok()
}

/// The password in the envelope; `None` when it was not sealed with our key and this salt.
pub fn open_envelope(envelope: &[u8], salt: &Salt) -> Option<Vec<u8>> {
    let masked = key()?.oaep_decrypt::<Sha1>(envelope).ok()?;
    let mut password = xor(&masked, salt);
    (password.pop() == Some(0)).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_password_sends_nothing() {
        assert_eq!(
            AuthPlugin::CachingSha2Password.scramble(b"", &random_salt()),
            b""
        );
    }

    #[test]
    fn an_envelope_sealed_with_the_public_key_opens_and_rubbish_does_not() {
        let salt = random_salt();
        let seal = |text: &[u8]| {
            key()
                .unwrap()
                .to_public_key()
                .oaep_encrypt::<Sha1>(text)
                .unwrap()
        };
        assert_eq!(
            open_envelope(&seal(&xor(b"s3cret\0", &salt)), &salt).as_deref(),
            Some(&b"s3cret"[..])
        );
        let without_its_end = seal(&xor(b"s3cret", &salt));
        assert_eq!(open_envelope(&without_its_end, &salt), None);
        assert_eq!(open_envelope(&[1; 256], &salt), None);
    }
}
