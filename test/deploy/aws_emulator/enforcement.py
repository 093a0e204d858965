"""IAM: a switch for its enforcement, off while the CDK deploys and on while the workload runs; and what it gets wrong.

The CDK cannot deploy under enforcement here: its bootstrap bucket refuses plain HTTP, which the emulator speaks.
"""

import json
from typing import Any

from ministack import app as ministack_app
from ministack.core import iam_actions
from ministack.services import ecs, kinesis

PATH = "/_chargeonce/iam"


def install() -> None:
    """Answers PUT (enforce) and DELETE (do not) on one path, and passes everything else on."""
    if ministack_app.AUTH:
        raise RuntimeError("Start the emulator without AUTH: enforcement is switched on by a request")
    ministack_app.app = _switched(ministack_app.app)
    iam_actions.extract_resource_arn = _with_resources(iam_actions.extract_resource_arn)
    iam_actions.request_tag_context = _with_cluster(iam_actions.request_tag_context)


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


def _body(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        # Another protocol than JSON: none of the calls that are looked at here.
        return {}
    return found if isinstance(found, dict) else {}


def _with_resources(resource_arn: Any) -> Any:
    """The resource of two calls as AWS has it.

    GetRecords names its stream by the iterator; ministack looks for a name and then asks for `*`.
    RunTask is about the task definition; ministack asks for the cluster.
    """

    def with_resources(service: str, method: str, path: str, headers: Any, body: bytes, *rest: Any) -> str:
        arn = resource_arn(service, method, path, headers, body, *rest)
        action = headers.get("x-amz-target", "").rsplit(".", 1)[-1]
        if service == "kinesis" and action == "GetRecords":
            iterator = kinesis._shard_iterators.get(_body(body).get("ShardIterator"))
            return iterator["stream_arn"] if iterator else arn
        if service == "ecs" and action == "RunTask":
            definition = ecs._task_defs.get(ecs._resolve_td_key(_body(body).get("taskDefinition", "")))
            return definition["taskDefinitionArn"] if definition else "*"
        return arn

    return with_resources


def _with_cluster(context: Any) -> Any:
    """The condition key `ecs:cluster`, which ministack does not know."""

    def with_cluster(service: str, action: str, body: bytes, parameters: Any) -> dict[str, Any]:
        known = context(service, action, body, parameters)
        if service != "ecs":
            return known
        cluster = ecs._clusters.get(ecs._resolve_cluster_name(_body(body).get("cluster", "")))
        return known | {"ecs:cluster": cluster["clusterArn"]} if cluster else known

    return with_cluster
