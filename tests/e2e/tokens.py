# SPDX-License-Identifier: Apache-2.0
"""An issuer of bearer tokens (JWT, ES256) for one test.

    issuer = tokens.Issuer("k1")
    site_layout.write(folder, "jwks.json", tokens.jwks(issuer))
    issuer.token("system:serviceaccount:monitoring:prometheus", lifetime_s=60)
"""

import base64
import json
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

AUDIENCE = "sideband"
_COORDINATE_BYTES = 32


def _base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _number(number):
    return number.to_bytes(_COORDINATE_BYTES, "big")


class Issuer:
    def __init__(self, key_id):
        self._key_id = key_id
        self._key = ec.generate_private_key(ec.SECP256R1())

    def jwk(self):
        public = self._key.public_key().public_numbers()
        return {"kty": "EC", "kid": self._key_id, "use": "sig", "crv": "P-256", "x": _base64url(_number(public.x)),
                "y": _base64url(_number(public.y))}

    def token(self, subject, lifetime_s=300, **claims):
        """A token; `claims` replace or extend the usual claims."""
        now = int(time.time())
        usual = {"sub": subject, "aud": AUDIENCE, "iat": now, "nbf": now, "exp": now + lifetime_s}
        return self.sign({"alg": "ES256", "kid": self._key_id, "typ": "JWT"}, {**usual, **claims})

    def sign(self, header, claims):
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in (header, claims))
        signature = utils.decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return signed + "." + _base64url(b"".join(_number(half) for half in signature))


def jwks(*issuers):
    return json.dumps({"keys": [issuer.jwk() for issuer in issuers]}, indent=1)
