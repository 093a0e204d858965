"""DynamoDB: a global table keeps what its template says of capacities and of the replica in this region.

ministack drops the replica, and the capacity of indexes.
"""

from typing import Any

from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

from . import application_autoscaling
from .provisioning import Properties, ProvisioningError, after, json_of

TABLE = "AWS::DynamoDB::GlobalTable"
REPLICA = {
    "Region",
    "PointInTimeRecoverySpecification",
    "DeletionProtectionEnabled",
    "Tags",
    "GlobalSecondaryIndexes",
    "ReadProvisionedThroughputSettings",
}


def install() -> None:
    """Applies the rest of the template after each create and update."""
    after(TABLE, _apply)
    handler = provisioners._RESOURCE_HANDLERS[TABLE]
    delete = handler["delete"]

    def delete_with_targets(name: str, properties: Properties) -> None:
        delete(name, properties)
        application_autoscaling.deregister(name)

    handler["delete"] = delete_with_targets


def _apply(name: str, properties: Properties, _: dict[str, str]) -> None:
    table = dynamodb._tables[name]
    replica = _replica_here(name, properties)
    # The status is left out upstream, and looked at by SDKs and the runtime. A copy: the list is the template's own.
    indexes = table.get("GlobalSecondaryIndexes") or []
    table["GlobalSecondaryIndexes"] = [{"IndexStatus": "ACTIVE"} | index for index in indexes]
    table["DeletionProtectionEnabled"] = replica.get("DeletionProtectionEnabled", False)
    if replica.get("Tags"):
        dynamodb._tags[table["TableArn"]] = replica["Tags"]
    recovery = replica.get("PointInTimeRecoverySpecification")
    if recovery:
        request = {"TableName": name, "PointInTimeRecoverySpecification": recovery}
        json_of(dynamodb._update_continuous_backups(request), "UpdateContinuousBackups")
    if properties.get("BillingMode") == "PROVISIONED":
        _provision(name, table, properties, replica)


def _replica_here(name: str, properties: Properties) -> dict[str, Any]:
    here = provisioners.get_region()
    if [replica["Region"] for replica in properties["Replicas"]] != [here]:
        raise ProvisioningError(f"{name}: the emulator has one region, {here}, and one replica")
    (replica,) = properties["Replicas"]
    unknown = sorted(set(replica) - REPLICA)
    if unknown:
        raise ProvisioningError(f"{name}: the emulator does not know {', '.join(unknown)} of a replica")
    return replica


def _provision(name: str, table: dict[str, Any], properties: Properties, replica: dict[str, Any]) -> None:
    """Writes are set on the table and its indexes, reads on the replica and its indexes."""
    resource = f"table/{name}"
    table["ProvisionedThroughput"] = _throughput(resource, "table", properties, replica)
    read = {index["IndexName"]: index for index in replica.get("GlobalSecondaryIndexes", [])}
    for index in table["GlobalSecondaryIndexes"]:
        of_index = f"{resource}/index/{index['IndexName']}"
        index["ProvisionedThroughput"] = _throughput(of_index, "index", index, read.get(index["IndexName"], {}))


def _throughput(resource: str, kind: str, write: dict[str, Any], read: dict[str, Any]) -> dict[str, int]:
    return {
        "WriteCapacityUnits": _capacity(resource, f"dynamodb:{kind}:Write", "Write", write),
        "ReadCapacityUnits": _capacity(resource, f"dynamodb:{kind}:Read", "Read", read),
    }


def _capacity(resource: str, dimension: str, way: str, said: dict[str, Any]) -> int:
    """Registers what scales, and answers what it begins with."""
    settings = said[f"{way}ProvisionedThroughputSettings"]
    if f"{way}CapacityUnits" in settings:
        return int(settings[f"{way}CapacityUnits"])
    scaling = settings[f"{way}CapacityAutoScalingSettings"]
    application_autoscaling.register(resource, f"{dimension}CapacityUnits", scaling)
    return int(scaling.get("SeedCapacity", scaling["MinCapacity"]))
