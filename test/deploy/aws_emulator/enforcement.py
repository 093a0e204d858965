"""IAM: a switch for its enforcement, off while the CDK deploys and on while the workload runs; and a resource it lacks.

The CDK cannot deploy under enforcement here: its bootstrap bucket refuses plain HTTP, which is what the emulator speaks.
"""

import json
from typing import Any

from ministack import app as ministack_app
from ministack.core import iam_actions
from ministack.services import kinesis

PATH = "/_chargeonce/iam"


def install() -> None:
    """Answers PUT (enforce) and DELETE (do not) on one path, and passes everything else on."""
    if ministack_app.AUTH:
        raise RuntimeError("Start the emulator without AUTH: enforcement is switched on by a request")
    ministack_app.app = _switched(ministack_app.app)
    iam_actions.extract_resource_arn = _with_iterators(iam_actions.extract_resource_arn)


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


def _with_iterators(resource_arn: Any) -> Any:
    """GetRecords names its stream by the iterator, as on AWS; ministack looks for a name and then asks for `*`."""

    def with_iterators(service: str, method: str, path: str, headers: Any, body: bytes, *rest: Any) -> str:
        arn = resource_arn(service, method, path, headers, body, *rest)
        if service != "kinesis" or arn != "*":
            return arn
        iterator = kinesis._shard_iterators.get(json.loads(body or b"{}").get("ShardIterator"))
        return iterator["stream_arn"] if iterator else arn

    return with_iterators
