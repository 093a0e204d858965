"""DynamoDB: a global table keeps what its template says of the replica in this region, which ministack drops."""

from ministack.services import dynamodb
from ministack.services.cloudformation import provisioners

from .provisioning import Properties, ProvisioningError, after, json_of

REPLICA = {"Region", "PointInTimeRecoverySpecification", "DeletionProtectionEnabled", "Tags", "GlobalSecondaryIndexes"}


def install() -> None:
    """Applies the replica's settings after each create and update."""
    after("AWS::DynamoDB::GlobalTable", _apply_replica)


def _apply_replica(name: str, properties: Properties, _: dict[str, str]) -> None:
    table = dynamodb._tables[name]
    # The status is left out upstream, and looked at by SDKs and by the runtime. A copy: the list is the template's own.
    indexes = table.get("GlobalSecondaryIndexes") or []
    table["GlobalSecondaryIndexes"] = [{"IndexStatus": "ACTIVE"} | index for index in indexes]
    here = provisioners.get_region()
    replicas = [replica for replica in properties["Replicas"] if replica["Region"] == here]
    if len(properties["Replicas"]) != 1 or len(replicas) != 1:
        raise ProvisioningError(f"{name}: the emulator has one region, {here}, and one replica")
    replica = replicas[0]
    unknown = sorted(set(replica) - REPLICA)
    if unknown:
        raise ProvisioningError(f"{name}: the emulator does not know {', '.join(unknown)} of a replica")
    table["DeletionProtectionEnabled"] = replica.get("DeletionProtectionEnabled", False)
    if replica.get("Tags"):
        dynamodb._tags[table["TableArn"]] = replica["Tags"]
    recovery = replica.get("PointInTimeRecoverySpecification")
    if recovery:
        request = {"TableName": name, "PointInTimeRecoverySpecification": recovery}
        json_of(dynamodb._update_continuous_backups(request), "UpdateContinuousBackups")
