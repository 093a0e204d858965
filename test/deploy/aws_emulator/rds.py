"""RDS: an instance whose owner's password RDS makes and keeps in a secret, which ministack does for clusters only; and
what else of an instance it does not keep: its log exports and its certificate authority."""

import json
import secrets
from typing import Any

from ministack.services import rds, secretsmanager
from ministack.services.cloudformation import provisioners

from .provisioning import Properties, ProvisioningError, after

INSTANCE = "AWS::RDS::DBInstance"
SECRET_ARN = "MasterUserSecret.SecretArn"


def install() -> None:
    """Adds the managed secret and the log exports to instances, and shows both."""
    after(INSTANCE, _keep)
    handler = provisioners._RESOURCE_HANDLERS[INSTANCE]
    delete = handler["delete"]

    def delete_with_secret(instance_id: str, properties: Properties) -> None:
        managed = (rds._instances.get(instance_id) or {}).get("MasterUserSecret")
        delete(instance_id, properties)
        if managed:
            secretsmanager._delete_secret({"SecretId": managed["SecretArn"], "ForceDeleteWithoutRecovery": True})

    handler["delete"] = delete_with_secret
    rds._instance_xml = _shown(rds._instance_xml)


def _keep(instance_id: str, properties: Properties, attributes: dict[str, str]) -> None:
    instance = rds._instances[instance_id]
    instance["EnabledCloudwatchLogsExports"] = properties.get("EnableCloudwatchLogsExports", [])
    if "CACertificateIdentifier" in properties:
        instance["CACertificateIdentifier"] = properties["CACertificateIdentifier"]
    if not properties.get("ManageMasterUserPassword"):
        return
    if "MasterUserPassword" in properties:
        raise ProvisioningError(f"{instance_id}: MasterUserPassword and ManageMasterUserPassword exclude each other")
    if "MasterUserSecret" not in instance:
        password = secrets.token_urlsafe(24)
        value = json.dumps({"username": properties["MasterUsername"], "password": password})
        name = f"rds!{instance['DbiResourceId'].lower()}"
        instance["_MasterUserPassword"] = password
        instance["MasterUserSecret"] = {
            "SecretArn": secretsmanager.create_secret_in_process(name, value, description="Managed by RDS"),
            "SecretStatus": "active",
            "KmsKeyId": properties.get("MasterUserSecret", {}).get("KmsKeyId", "alias/aws/secretsmanager"),
        }
    attributes[SECRET_ARN] = instance["MasterUserSecret"]["SecretArn"]


def _shown(instance_xml: Any) -> Any:
    def xml(instance: dict[str, Any]) -> str:
        text = instance_xml(instance)
        managed = ""
        if instance.get("MasterUserSecret"):
            fields = (f"<{key}>{value}</{key}>" for key, value in instance["MasterUserSecret"].items())
            managed = f"<MasterUserSecret>{''.join(fields)}</MasterUserSecret>"
        logs = "".join(f"<member>{log}</member>" for log in instance.get("EnabledCloudwatchLogsExports", []))
        exports = f"<EnabledCloudwatchLogsExports>{logs}</EnabledCloudwatchLogsExports>"
        text = text.replace("<EnabledCloudwatchLogsExports/>", exports)
        return text.replace("<DbiResourceId>", f"{managed}<DbiResourceId>", 1)

    return xml
