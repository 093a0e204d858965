"""Deletes that AWS refuses because something still stands on the resource; ministack deletes anything.

A stack that keeps its database and deletes the network under it would pass here and fail on AWS.
"""

from collections.abc import Callable, Iterable

from ministack.services import ec2, ecs, rds
from ministack.services.cloudformation import provisioners

from .provisioning import Properties, ProvisioningError

Users = Callable[[str], Iterable[str]]
"""From a physical id: what still uses it."""


def install() -> None:
    """Makes the deletes of these types fail while there are users."""
    for resource_type, users in USERS.items():
        handler = dict(provisioners._RESOURCE_HANDLERS[resource_type])
        provisioners._RESOURCE_HANDLERS[resource_type] = handler | {"delete": _unless_used(handler["delete"], users)}


def _unless_used(delete: Callable[[str, Properties], object], users: Users) -> Callable[[str, Properties], object]:
    def delete_unless_used(physical_id: str, properties: Properties) -> object:
        found = sorted(users(physical_id))
        if found:
            raise ProvisioningError(f"DependencyViolation: {physical_id} has dependent objects: {', '.join(found)}")
        return delete(physical_id, properties)

    return delete_unless_used


def _services() -> Iterable[tuple[str, dict[str, list[str]]]]:
    for service in ecs._services.values():
        if service["status"] == "ACTIVE":
            yield service["serviceName"], service["networkConfiguration"].get("awsvpcConfiguration", {})


def _users_of_security_group(group_id: str) -> Iterable[str]:
    for instance_id, instance in rds._instances.items():
        if any(group["VpcSecurityGroupId"] == group_id for group in instance["VpcSecurityGroups"]):
            yield instance_id
    yield from (name for name, network in _services() if group_id in network.get("securityGroups", []))
    for other_id, other in ec2._security_groups.items():
        pairs = (pair for rule in other["IpPermissions"] for pair in rule.get("UserIdGroupPairs", []))
        if other_id != group_id and any(pair.get("GroupId") == group_id for pair in pairs):
            yield other_id


def _users_of_subnet(subnet_id: str) -> Iterable[str]:
    for instance_id, instance in rds._instances.items():
        if any(subnet["SubnetIdentifier"] == subnet_id for subnet in instance["DBSubnetGroup"]["Subnets"]):
            yield instance_id
    yield from (name for name, network in _services() if subnet_id in network.get("subnets", []))
    for nat_id, nat in ec2._nat_gateways.items():
        if nat["SubnetId"] == subnet_id and nat["State"] != "deleted":
            yield nat_id


def _users_of_vpc(vpc_id: str) -> Iterable[str]:
    yield from (subnet_id for subnet_id, subnet in ec2._subnets.items() if subnet["VpcId"] == vpc_id)
    for group_id, group in ec2._security_groups.items():
        if group["VpcId"] == vpc_id and group["GroupName"] != "default":
            yield group_id
    for gateway_id, gateway in ec2._internet_gateways.items():
        if any(attachment["VpcId"] == vpc_id for attachment in gateway["Attachments"]):
            yield gateway_id


def _users_of_subnet_group(name: str) -> Iterable[str]:
    return (id_ for id_, each in rds._instances.items() if each["DBSubnetGroup"]["DBSubnetGroupName"] == name)


def _users_of_parameter_group(name: str) -> Iterable[str]:
    for instance_id, instance in rds._instances.items():
        if any(group["DBParameterGroupName"] == name for group in instance["DBParameterGroups"]):
            yield instance_id


USERS: dict[str, Users] = {
    "AWS::EC2::SecurityGroup": _users_of_security_group,
    "AWS::EC2::Subnet": _users_of_subnet,
    "AWS::EC2::VPC": _users_of_vpc,
    "AWS::RDS::DBSubnetGroup": _users_of_subnet_group,
    "AWS::RDS::DBParameterGroup": _users_of_parameter_group,
}
