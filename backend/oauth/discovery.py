"""`/.well-known/openid-configuration` (OIDC Discovery 1.0, RFC 8414)."""

from typing import Any

from backend.auth.scopes import IdentityScope, Scope
from backend.core.settings import settings
from backend.oauth.schemas import ATTESTATIONS, IDENTITIES
from backend.oauth.token_endpoint import GRANT_TYPES

METHODS = ["client_secret_basic", "client_secret_post"]


def document() -> dict[str, Any]:
    """Return the provider's metadata; every address begins with the issuer's."""
    base = settings().base_url
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "userinfo_endpoint": f"{base}/oauth/userinfo",
        "jwks_uri": f"{base}/oauth/jwks",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "introspection_endpoint": f"{base}/oauth/introspect",
        "service_documentation": f"{base}/docs",
        "scopes_supported": [str(s) for s in (*IdentityScope, *Scope)],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "sid", "nonce", "at_hash", "name", "picture", "email",
            "email_verified", IDENTITIES, ATTESTATIONS,
        ],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": [*METHODS, "none"],
        "revocation_endpoint_auth_methods_supported": [*METHODS, "none"],
        "introspection_endpoint_auth_methods_supported": METHODS,
        "code_challenge_methods_supported": ["S256"],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "authorization_response_iss_parameter_supported": True,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }  # fmt: skip
