//! DH-HMAC-CHAP (NVMe Base 2.0, section 8.13.5): hosts that know the secret, hosts that do not, and hosts that lie.

use super::common::host::{self, Digests, Entry, HOST, SUBSYSTEM, entry};
use super::common::server::{Server, Shared};
use hmac::{Hmac, KeyInit, Mac};
use num_bigint::BigUint;
use serve::nvme::{Secret, SecretError, Secrets};
use sha2::{Digest, Sha256, Sha384, Sha512};

const PLAIN: Digests = Digests { header: false, data: false };
const OK: (u8, u8, bool) = (0, 0, false);
const REQUIRED: (u8, u8, bool) = (1, 0x91, true);

/// Secrets that nvme-cli has made: bound by SHA-256, and used as it is.
const BOUND: &str = "DHHC-1:01:pNtvc8BuOnDA1mQdDh7judViMu9A86KEqiPkn4RC7OnnSErO:";
const BOUND_KEY: &str = "a4db6f73c06e3a70c0d6641d0e1ee3b9d56232ef40f3a284aa23e49f8442ece9";

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn mac(hash: u8, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    fn run<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
        <M as KeyInit>::new_from_slice(key).unwrap().chain_update(bytes).finalize().into_bytes().to_vec()
    }
    match hash {
        1 => run::<Hmac<Sha256>>(key, bytes),
        2 => run::<Hmac<Sha384>>(key, bytes),
        _ => run::<Hmac<Sha512>>(key, bytes),
    }
}

fn digest(hash: u8, bytes: &[u8]) -> Vec<u8> {
    match hash {
        1 => Sha256::digest(bytes).to_vec(),
        2 => Sha384::digest(bytes).to_vec(),
        _ => Sha512::digest(bytes).to_vec(),
    }
}

/// The prime of 2,048 bits as RFC 7919 prints it.
const FFDHE2048: &str = "FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FBCC939DCE249B3EF9\
    7D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0856365553DED1AF3B557135E7F57C935984F0C70E0E68B77\
    E2A689DAF3EFE8721DF158A136ADE73530ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
    AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF8E4F1232EEF28183C3FE3B1B4C6FAD73\
    3BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA886B423861285C97FFFFFFFFFFFFFFFF";

fn send(message: &[u8]) -> Entry {
    let length = message.len() as u32;
    authentication(5, length).capsule(0, length)
}

/// An Authentication Send or Receive.
fn authentication(kind: u8, length: u32) -> Entry {
    entry(0x7F, 3, 0).byte(4, kind).byte(41, 1).byte(42, 1).byte(43, 0xE9).dword(11, length)
}

fn negotiate(hashes: &[u8], groups: &[u8]) -> Vec<u8> {
    let mut message = vec![0; 72];
    (message[4], message[7], message[8]) = (0x34, 1, 1);
    (message[10], message[11]) = (hashes.len() as u8, groups.len() as u8);
    message[12..12 + hashes.len()].copy_from_slice(hashes);
    message[42..42 + groups.len()].copy_from_slice(groups);
    message
}

/// A host with a key, and the key by which it knows the controller.
struct Host {
    key: Vec<u8>,
    controller_key: Option<Vec<u8>>,
}

/// The host, once it was challenged.
struct Challenged {
    hash: u8,
    group: u8,
    /// The value that both sides share, digested.
    shared: Option<Vec<u8>>,
    reply: Vec<u8>,
}

impl Host {
    fn augmented(hash: u8, shared: Option<&Vec<u8>>, challenge: &[u8]) -> Vec<u8> {
        shared.map_or(challenge.to_vec(), |shared| mac(hash, shared, challenge))
    }

    fn reply(&self, challenge: &[u8]) -> Challenged {
        assert_eq!((challenge[0], challenge[1], challenge[4]), (1, 1, 0x34), "a challenge of this transaction");
        let (length, hash, group) = (usize::from(challenge[6]), challenge[8], challenge[9]);
        let public_bytes = usize::from(u16::from_le_bytes([challenge[10], challenge[11]]));
        let value = &challenge[16..16 + length];
        let theirs = &challenge[16 + length..16 + length + public_bytes];
        let prime = BigUint::parse_bytes(FFDHE2048.as_bytes(), 16).unwrap();
        let exponent = BigUint::from(0x1234_5678_9ABC_DEF0u64);
        let (mine, shared) = match group {
            0 => (Vec::new(), None),
            1 => {
                let padded = |value: BigUint| [vec![0; 256 - value.to_bytes_be().len()], value.to_bytes_be()].concat();
                let mine = padded(BigUint::from(2u8).modpow(&exponent, &prime));
                let shared = padded(BigUint::from_bytes_be(theirs).modpow(&exponent, &prime));
                (mine, Some(digest(hash, &shared)))
            }
            other => panic!("group {other}"),
        };
        let proof = [
            &Host::augmented(hash, shared.as_ref(), value)[..],
            &challenge[12..16],
            &[0x34, 0, 0],
            b"HostHost",
            HOST.as_bytes(),
            &[0],
            SUBSYSTEM.as_bytes(),
        ]
        .concat();
        let mut reply = vec![0; 16];
        (reply[0], reply[1], reply[4], reply[6]) = (1, 2, 0x34, length as u8);
        reply[8] = u8::from(self.controller_key.is_some());
        reply[10..12].copy_from_slice(&(mine.len() as u16).to_le_bytes());
        reply[12..16].copy_from_slice(&77u32.to_le_bytes());
        reply.extend(mac(hash, &self.key, &proof));
        reply.extend(vec![0x5C; length]);
        reply.extend(mine);
        Challenged { hash, group, shared, reply }
    }

    /// The proof that the controller is to give.
    fn expected(&self, of: &Challenged, length: usize) -> Vec<u8> {
        let proof = [
            &Host::augmented(of.hash, of.shared.as_ref(), &vec![0x5C; length])[..],
            &77u32.to_le_bytes(),
            &[0x34, 0, 0],
            b"Controller",
            SUBSYSTEM.as_bytes(),
            &[0],
            HOST.as_bytes(),
        ]
        .concat();
        mac(of.hash, self.controller_key.as_ref().unwrap(), &proof)
    }
}

fn secrets(controller: bool) -> Secrets {
    Secrets { host: BOUND.parse().unwrap(), controller: controller.then(|| BOUND.parse().unwrap()) }
}

/// The key that is bound to a name.
fn bound(nqn: &str) -> Vec<u8> {
    mac(1, &unhex(BOUND_KEY), &[nqn.as_bytes(), b"NVMe-over-Fabrics"].concat())
}

/// A connection that has to authenticate itself, connected.
fn locked(shared: &mut Shared) -> Server {
    let mut server = Server::initialized(shared, PLAIN);
    let connected = server.one(shared, &host::connect(0, 32, 0xFFFF, SUBSYSTEM, PLAIN));
    assert_eq!((connected.status, connected.value >> 16), (OK, 2), "the host is asked to authenticate itself");
    server
}

fn put(server: &mut Server, shared: &mut Shared, message: &[u8]) -> (u8, u8, bool) {
    server.one(shared, &host::command(send(message), message, PLAIN)).status
}

fn take(server: &mut Server, shared: &mut Shared) -> Vec<u8> {
    server.get(shared, authentication(6, 2048).transport(2048)).unwrap()
}

/// The explanation of the failure that waits, and the connection ends.
fn failure(server: &mut Server, shared: &mut Shared) -> u8 {
    let message = take(server, shared);
    assert_eq!((message[0], message[1], message[6]), (0, 0xF1, 1));
    assert!(server.unauthenticated, "the connection ends");
    message[7]
}

#[test]
fn a_secret_is_read_as_it_is_written_and_typing_errors_are_found() {
    let read = |text: &str| text.parse::<Secret>().map(|secret| secret.key_of(HOST));
    assert_eq!(read(BOUND), Ok(bound(HOST)));
    assert_eq!(read(&BOUND.replace(":01:", ":00:")), Ok(unhex(BOUND_KEY)));
    for (text, error) in [
        ("", SecretError::Form),
        ("DHHC-1:01:", SecretError::Form),
        ("DHHC-1:01:pNtv", SecretError::Form),
        (&BOUND.replace("DHHC-1", "DHHC-2"), SecretError::Form),
        (&BOUND.replace('8', "!"), SecretError::Form),
        (&BOUND.replace(":01:", ":04:"), SecretError::Hash),
        (&BOUND.replace("pNtv", "pNtw"), SecretError::Checksum),
        ("DHHC-1:00:AAAAAAAAAAA=:", SecretError::Length),
        ("DHHC-1:00:AA==:", SecretError::Length),
    ] {
        assert_eq!(read(text), Err(error), "{text}");
    }
    assert!(!format!("{:?}", secrets(true)).contains("pNtv"), "secrets are not printed");
}

#[test]
fn a_host_that_knows_the_secret_is_let_in_with_every_hash_and_group() {
    for (hashes, groups, hash, group) in
        [(&[1][..], &[0][..], 1, 0), (&[1, 2], &[1], 2, 1), (&[1, 2, 3], &[0, 1], 3, 1), (&[3, 1], &[0], 3, 0)]
    {
        for is_mutual in [false, true] {
            let mut shared = Shared { secrets: Some(secrets(true)), ..Shared::default() };
            let mut server = locked(&mut shared);
            let before = server.ask(&mut shared, host::property_get(1, 0, true));
            assert_eq!(before.status, REQUIRED, "nothing is told before");
            let of = Host { key: bound(HOST), controller_key: is_mutual.then(|| bound(SUBSYSTEM)) };
            assert_eq!(put(&mut server, &mut shared, &negotiate(hashes, groups)), OK);
            let challenged = of.reply(&take(&mut server, &mut shared));
            assert_eq!((challenged.hash, challenged.group), (hash, group));
            assert_eq!(put(&mut server, &mut shared, &challenged.reply), OK);
            let success = take(&mut server, &mut shared);
            assert_eq!((success[0], success[1], success[8]), (1, 3, u8::from(is_mutual)));
            if is_mutual {
                let length = usize::from(success[6]);
                assert_eq!(success[16..16 + length], of.expected(&challenged, length));
                assert_eq!(server.ask(&mut shared, host::property_get(1, 0, true)).status, REQUIRED);
                let mut confirmed = vec![1, 4, 0, 0, 0x34, 0];
                confirmed.resize(16, 0);
                assert_eq!(put(&mut server, &mut shared, &confirmed), OK);
            }
            assert_eq!(server.ask(&mut shared, host::property_set(1, 0x14, host::ENABLE)).status, OK);
            // Each queue is authenticated by itself.
            let controller = server.queue.queue().unwrap().controller;
            let mut io = Server::initialized(&mut shared, PLAIN);
            io.one(&mut shared, &host::connect(1, 32, controller, SUBSYSTEM, PLAIN));
            let read = entry(2, 1, 1).blocks(0, 1).transport(4096);
            assert_eq!(io.get(&mut shared, read).unwrap_err().status, REQUIRED);
        }
    }
}

#[test]
fn a_host_that_lies_is_told_why_and_its_connection_ends() {
    /// Changes a message of the host.
    type Change = fn(&mut Vec<u8>);
    let unchanged: Change = |_| {};
    // The change of the negotiation, that of the reply, and the explanation.
    let cases: [(&str, Change, Change, u8); 13] = [
        ("a wrong proof", unchanged, |reply| reply[16] ^= 1, 1),
        ("a proof of another length", unchanged, |reply| reply[6] = 32, 6),
        ("another transaction", unchanged, |reply| reply[4] ^= 1, 6),
        ("a reply that is cut", unchanged, |reply| reply.truncate(40), 6),
        ("a public value of another length", unchanged, |reply| reply[10] = 4, 6),
        (
            "the public value 1",
            unchanged,
            |reply| {
                let begin = reply.len() - 256;
                reply[begin..].fill(0);
                *reply.last_mut().unwrap() = 1;
            },
            6,
        ),
        (
            "a public value beyond the prime",
            unchanged,
            |reply| {
                let begin = reply.len() - 256;
                reply[begin..].fill(0xFF);
            },
            6,
        ),
        ("a success in place of a reply", unchanged, |reply| reply[1] = 4, 7),
        ("no hash that there is", |first| first[12..15].fill(9), unchanged, 4),
        ("no group that there is", |first| first[42] = 99, unchanged, 5),
        ("another protocol", |first| first[8] = 2, unchanged, 2),
        ("a secure channel", |first| first[6] = 1, unchanged, 3),
        ("more protocols than there are bytes", |first| first[7] = 3, unchanged, 6),
    ];
    for (what, change_first, change_reply, why) in cases {
        let mut shared = Shared { secrets: Some(secrets(false)), ..Shared::default() };
        let mut server = locked(&mut shared);
        let mut first = negotiate(&[1, 2, 3], &[1]);
        change_first(&mut first);
        assert_eq!(put(&mut server, &mut shared, &first), OK, "{what}");
        if why != 1 && why < 6 || first[7] == 3 {
            assert_eq!(failure(&mut server, &mut shared), why, "{what}");
            continue;
        }
        let of = Host { key: bound(HOST), controller_key: None };
        let mut reply = of.reply(&take(&mut server, &mut shared)).reply;
        change_reply(&mut reply);
        assert_eq!(put(&mut server, &mut shared, &reply), OK, "{what}");
        assert_eq!(server.ask(&mut shared, host::property_get(1, 0, true)).status, REQUIRED);
        assert_eq!(failure(&mut server, &mut shared), why, "{what}");
    }
    // A host that wants to know the server, which has no secret for that; a wrong secret; the key of another name.
    for (key, controller_key) in
        [(bound(HOST), Some(bound(SUBSYSTEM))), (vec![7; 32], None), (bound(SUBSYSTEM), None), (unhex(BOUND_KEY), None)]
    {
        let mut shared = Shared { secrets: Some(secrets(false)), ..Shared::default() };
        let mut server = locked(&mut shared);
        put(&mut server, &mut shared, &negotiate(&[1], &[0]));
        let reply = Host { key, controller_key }.reply(&take(&mut server, &mut shared)).reply;
        put(&mut server, &mut shared, &reply);
        assert_eq!(failure(&mut server, &mut shared), 1);
    }
}

#[test]
fn messages_out_of_turn_have_a_status_and_no_two_challenges_are_the_same() {
    let mut shared = Shared { secrets: Some(secrets(false)), ..Shared::default() };
    let mut server = locked(&mut shared);
    let receive = authentication(6, 2048).transport(2048);
    assert_eq!(server.get(&mut shared, receive).unwrap_err().status, (0, 0x0C, true), "there is nothing to receive");
    for (what, entry) in [
        ("another protocol", receive.byte(43, 0xE8)),
        ("another protocol's parts", receive.byte(41, 0)),
        ("no length", receive.dword(11, 0)),
        ("too long", receive.dword(11, 5000)),
    ] {
        assert_eq!(server.get(&mut shared, entry).unwrap_err().status, (0, 2, true), "{what}");
    }
    let message = negotiate(&[1], &[1]);
    let short = send(&message).dword(11, 71);
    assert_eq!(server.one(&mut shared, &host::command(short, &message, PLAIN)).status, (0, 2, true));
    let mut challenges: Vec<Vec<u8>> = (0..3)
        .map(|_| {
            put(&mut server, &mut shared, &message);
            take(&mut server, &mut shared)[12..].to_vec()
        })
        .collect();
    challenges.sort();
    challenges.dedup();
    assert_eq!(challenges.len(), 3);
    // A server without secrets has nothing to authenticate.
    let mut shared = Shared::default();
    let mut admin = Server::admin(&mut shared, SUBSYSTEM, PLAIN);
    assert_eq!(put(&mut admin, &mut shared, &message), (0, 2, true));
    // A discovery controller tells only names, and asks for no secret.
    let mut shared = Shared { secrets: Some(secrets(false)), ..Shared::default() };
    Server::admin(&mut shared, host::DISCOVERY, PLAIN);
}
