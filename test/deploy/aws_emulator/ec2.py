"""EC2: rules, addresses, NAT gateways and flow logs of a VPC, none of which ministack creates from a template."""

import re
from typing import Any
from xml.sax.saxutils import escape

from ministack.services import ec2

from .provisioning import Created, Properties, Response, add, ec2_tags, only, succeeded, text_of

INGRESS = "AWS::EC2::SecurityGroupIngress"
ADDRESS = "AWS::EC2::EIP"
NAT_GATEWAY = "AWS::EC2::NatGateway"
FLOW_LOG = "AWS::EC2::FlowLog"

Parameters = dict[str, list[str]]


def install() -> None:
    """Adds the types, and makes the Describe calls of two of them complete."""
    add(INGRESS, _create_ingress, lambda _, properties: ec2._revoke_sg_ingress(_permission(properties)))
    add(ADDRESS, _create_address, _release_address)
    add(NAT_GATEWAY, _create_nat_gateway, lambda nat_id, _: ec2._delete_nat_gateway({"NatGatewayId": [nat_id]}))
    add(FLOW_LOG, _create_flow_log, lambda log_id, _: ec2._delete_flow_logs({"FlowLogId.1": [log_id]}))
    ec2._ACTION_MAP["DescribeNatGateways"] = _with_addresses(ec2._describe_nat_gateways)
    ec2._ACTION_MAP["DescribeFlowLogs"] = _with_destinations(ec2._describe_flow_logs)


def _permission(properties: Properties) -> Parameters:
    rule = "IpPermissions.1"
    parameters = {"GroupId": [properties["GroupId"]], f"{rule}.IpProtocol": [str(properties["IpProtocol"])]}
    for name in ("FromPort", "ToPort"):
        if name in properties:
            parameters[f"{rule}.{name}"] = [str(properties[name])]
    if "CidrIp" in properties:
        peer = "IpRanges"
        parameters[f"{rule}.{peer}.1.CidrIp"] = [properties["CidrIp"]]
    else:
        peer = "Groups"
        parameters[f"{rule}.{peer}.1.GroupId"] = [properties["SourceSecurityGroupId"]]
    if "Description" in properties:
        parameters[f"{rule}.{peer}.1.Description"] = [properties["Description"]]
    return parameters


def _create_ingress(logical_id: str, properties: Properties, stack: str) -> Created:
    known = {"GroupId", "IpProtocol", "FromPort", "ToPort", "CidrIp", "SourceSecurityGroupId", "Description"}
    only(properties, INGRESS, known)
    answer = ec2._authorize_sg_ingress(_permission(properties))
    rule_id = text_of(answer, "AuthorizeSecurityGroupIngress", "securityGroupRuleId")
    return rule_id, {"Id": rule_id}


def _create_address(logical_id: str, properties: Properties, stack: str) -> Created:
    only(properties, ADDRESS, {"Domain", "Tags"})
    parameters = {"Domain": [properties.get("Domain", "vpc")]} | ec2_tags(properties, "elastic-ip")
    answer = ec2._allocate_address(parameters)
    address = text_of(answer, "AllocateAddress", "publicIp")
    # A template's Ref is the address itself.
    return address, {"AllocationId": text_of(answer, "AllocateAddress", "allocationId"), "PublicIp": address}


def _release_address(address: str, properties: Properties) -> None:
    for allocation_id, record in list(ec2._addresses.items()):
        if record["PublicIp"] == address:
            succeeded(ec2._release_address({"AllocationId": [allocation_id]}), "ReleaseAddress")


def _create_nat_gateway(logical_id: str, properties: Properties, stack: str) -> Created:
    only(properties, NAT_GATEWAY, {"SubnetId", "AllocationId", "Tags"})
    parameters = {name: [properties[name]] for name in ("SubnetId", "AllocationId")}
    answer = ec2._create_nat_gateway(parameters | ec2_tags(properties, "natgateway"))
    nat_id = text_of(answer, "CreateNatGateway", "natGatewayId")
    return nat_id, {"NatGatewayId": nat_id}


def _create_flow_log(logical_id: str, properties: Properties, stack: str) -> Created:
    names = ("ResourceType", "TrafficType", "LogDestinationType", "LogGroupName", "LogDestination")
    only(properties, FLOW_LOG, {*names, "ResourceId", "DeliverLogsPermissionArn", "MaxAggregationInterval", "Tags"})
    parameters = {name: [properties[name]] for name in names if name in properties}
    parameters |= {"ResourceId.1": [properties["ResourceId"]]} | ec2_tags(properties, "vpc-flow-log")
    succeeded(ec2._create_flow_logs(parameters), "CreateFlowLogs")
    log_id, record = next(reversed(ec2._flow_logs.items()))
    record["properties"] = properties
    if properties.get("Tags"):
        ec2._tags[log_id] = properties["Tags"]
    return log_id, {"Id": log_id}


def _with_addresses(describe: Any) -> Any:
    """A NAT gateway says which address it has; ministack keeps it and does not show it."""

    def describe_with_addresses(parameters: Parameters) -> Response:
        status, headers, body = describe(parameters)

        def fill(match: re.Match[str]) -> str:
            allocation_id = ec2._nat_gateways[match[2]]["AllocationId"]
            if allocation_id not in ec2._addresses:
                # Deleted gateways are shown for a while; their address was released.
                return match[0]
            address = ec2._addresses[allocation_id]["PublicIp"]
            item = f"<allocationId>{allocation_id}</allocationId><publicIp>{address}</publicIp>"
            return f"{match[1]}<natGatewayAddressSet><item>{item}</item></natGatewayAddressSet>"

        one = re.compile(r"(<natGatewayId>(nat-\w+)</natGatewayId>.*?)<natGatewayAddressSet/>", re.DOTALL)
        return status, headers, one.sub(fill, body.decode()).encode()

    return describe_with_addresses


def _with_destinations(describe: Any) -> Any:
    """A flow log says which role writes to which group, and how often; ministack shows neither."""

    def describe_with_destinations(parameters: Parameters) -> Response:
        status, headers, body = describe(parameters)

        def fill(match: re.Match[str]) -> str:
            properties = ec2._flow_logs[match[1]]["properties"]
            shown = {
                "logGroupName": properties.get("LogGroupName"),
                "deliverLogsPermissionArn": properties.get("DeliverLogsPermissionArn"),
                "maxAggregationInterval": properties.get("MaxAggregationInterval", 600),
            }
            texts = (f"<{tag}>{escape(str(value))}</{tag}>" for tag, value in shown.items() if value is not None)
            return f"{match[0]}{''.join(texts)}"

        return status, headers, re.sub(r"<flowLogId>(fl-\w+)</flowLogId>", fill, body.decode()).encode()

    return describe_with_destinations
