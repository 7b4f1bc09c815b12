//! What to do about a server's certificate that was refused, told from the words of the TLS library. Pure.

/// The words of a refusal, and what to do.
const KNOWN: [(&str, &str); 6] = [
    (
        "CaUsedAsEndEntity",
        "the server shows the certificate of an authority as its own: give it one that is for servers (for tests: \
         openssl req -x509 -addext basicConstraints=critical,CA:FALSE)",
    ),
    (
        "UnknownIssuer",
        "no certificate that is trusted here vouches for the server's: name the one that does, or the server's own, \
         with --ca FILE, or add it to the system's",
    ),
    ("expired", "renew the server's certificate; if it is new, look at the clock of this machine"),
    ("not valid yet", "look at the clocks of both machines, or wait until the certificate is valid"),
    ("not valid for name", "use a name in the URL that the certificate is for, or make one for this name"),
    ("BadSignature", "the certificate is damaged, or not what its issuer signed: make it anew"),
];

/// The refusal of a certificate, with what to do about it if that is known.
pub fn with_advice(why: &str) -> String {
    let lower = why.to_lowercase();
    let known = KNOWN.iter().find(|(words, _)| lower.contains(&words.to_lowercase()));
    known.map_or_else(|| why.to_owned(), |(_, advice)| format!("{why}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        for (why, part) in [
            ("invalid peer certificate: UnknownIssuer", "--ca FILE"),
            ("invalid peer certificate: certificate expired: verification time 1 (UNIX)", "renew"),
            ("invalid peer certificate: certificate not valid yet: verification time 1", "clocks of both"),
            ("invalid peer certificate: certificate not valid for name \"a\"; only for b", "use a name in the URL"),
            ("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "CA:FALSE"),
        ] {
            let told = with_advice(why);
            assert!(told.starts_with(why) && told.contains(part), "{told}");
        }
        assert_eq!(with_advice("connection reset"), "connection reset");
    }
}
