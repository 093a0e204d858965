"""Application Auto Scaling, which ministack does not have: what a provisioned table registers there, and shows.

Nothing is scaled. The Describe calls show the limits and the target that a table, or an index of one, was given.
"""

import json
import time
from typing import Any

from ministack import app
from ministack.core import router
from ministack.core.responses import error_response_json, json_response

from .provisioning import ProvisioningError, Response

Key = tuple[str, str]
"""Resource (`table/name`, `table/name/index/name`) and dimension."""

_targets: dict[Key, dict[str, Any]] = {}
_policies: dict[Key, dict[str, Any]] = {}


def install() -> None:
    """Adds the service to those that the emulator answers for."""
    router.SERVICE_PATTERNS["application-autoscaling"] = {
        "target_prefixes": ["AnyScaleFrontendService"],
        "host_patterns": [r"application-autoscaling\."],
    }
    app.SERVICE_HANDLERS["application-autoscaling"] = _answer


def register(resource: str, dimension: str, settings: dict[str, Any]) -> None:
    """Keeps what a table says of one capacity: `MinCapacity`, `MaxCapacity`, a target in percent."""
    lowest, highest = int(settings["MinCapacity"]), int(settings["MaxCapacity"])
    if lowest > highest:
        raise ProvisioningError(f"{resource}: MinCapacity {lowest} is above MaxCapacity {highest}")
    key = (resource, dimension)
    base = {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}
    base["CreationTime"] = time.time()
    _targets[key] = base | {"MinCapacity": lowest, "MaxCapacity": highest, "RoleARN": ""}
    _policies[key] = base | {
        "PolicyARN": f"arn:aws:autoscaling:::scalingPolicy:{resource}:{dimension}",
        "PolicyName": f"{resource}:{dimension}",
        "PolicyType": "TargetTrackingScaling",
        "TargetTrackingScalingPolicyConfiguration": settings["TargetTrackingScalingPolicyConfiguration"],
    }


def deregister(table: str) -> None:
    """Forgets a table and its indexes."""
    for kept in (_targets, _policies):
        for key in [key for key in kept if key[0] == f"table/{table}" or key[0].startswith(f"table/{table}/")]:
            del kept[key]


async def _answer(method: str, path: str, headers: dict[str, str], body: bytes, query: Any) -> Response:
    action = headers.get("x-amz-target", "").rsplit(".", 1)[-1]
    request = json.loads(body or b"{}")
    if action == "DescribeScalableTargets":
        wanted = request.get("ResourceIds")
        found = [each for each in _targets.values() if wanted is None or each["ResourceId"] in wanted]
        return json_response({"ScalableTargets": found})
    if action == "DescribeScalingPolicies":
        resource = request.get("ResourceId")
        found = [each for each in _policies.values() if resource in (None, each["ResourceId"])]
        return json_response({"ScalingPolicies": found})
    return error_response_json("UnknownOperationException", f"The emulator has no {action}", 400)
