"""A switch for the enforcement of IAM: off while the CDK deploys, on while the workload runs.

The CDK cannot deploy under enforcement here: its bootstrap bucket refuses plain HTTP, which is what the emulator speaks.
"""

from typing import Any

from ministack import app as ministack_app

PATH = "/_chargeonce/iam"


def install() -> None:
    """Answers PUT (enforce) and DELETE (do not) on one path, and passes everything else on."""
    if ministack_app.AUTH:
        raise RuntimeError("Start the emulator without AUTH: enforcement is switched on by a request")
    ministack_app.app = _switched(ministack_app.app)


def _switched(application: Any) -> Any:
    async def switched(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await application(scope, receive, send)
            return
        wanted = {"PUT": True, "DELETE": False}.get(scope["method"])
        if wanted is not None:
            ministack_app.AUTH = wanted
        status = 405 if wanted is None else 204
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return switched
