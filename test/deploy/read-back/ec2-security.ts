/** Reads back security groups and their rules. */
import {
  DescribeSecurityGroupRulesCommand,
  DescribeSecurityGroupsCommand,
  type IpPermission,
} from '@aws-sdk/client-ec2';
import { type Json, only, type Reader, tags } from './reading';

const securityGroup: Reader = {
  async read({ ec2 }, { physicalId }) {
    const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [physicalId] }));
    const found = only(SecurityGroups, physicalId);
    return {
      properties: {
        GroupDescription: found.Description,
        VpcId: found.VpcId,
        SecurityGroupIngress: (found.IpPermissions ?? []).flatMap(rules),
        SecurityGroupEgress: (found.IpPermissionsEgress ?? []).flatMap(rules),
        Tags: tags(found.Tags),
      },
      attributes: { GroupId: found.GroupId, VpcId: found.VpcId },
    };
  },
};

/** Rules as a template lists them: one for each peer. */
function rules({ IpProtocol, FromPort, ToPort, IpRanges = [], UserIdGroupPairs = [] }: IpPermission): Json[] {
  return [
    ...IpRanges.map(({ CidrIp, Description }) => ({ IpProtocol, FromPort, ToPort, CidrIp, Description })),
    ...UserIdGroupPairs.map(({ GroupId, Description }) => ({
      ...{ IpProtocol, FromPort, ToPort, Description },
      SourceSecurityGroupId: GroupId,
    })),
  ];
}

const ingress: Reader = {
  async read({ ec2 }, { physicalId }) {
    const command = new DescribeSecurityGroupRulesCommand({ SecurityGroupRuleIds: [physicalId] });
    const found = only((await ec2.send(command)).SecurityGroupRules, physicalId);
    if (found.IsEgress) throw new Error(`${physicalId} lets traffic out, not in`);
    const { GroupId, IpProtocol, FromPort, ToPort, Description, CidrIpv4: CidrIp } = found;
    const SourceSecurityGroupId = found.ReferencedGroupInfo?.GroupId;
    return {
      properties: { GroupId, IpProtocol, FromPort, ToPort, Description, CidrIp, SourceSecurityGroupId },
    };
  },
};

export const SECURITY_READERS: Readonly<Record<string, Reader>> = {
  'AWS::EC2::SecurityGroup': securityGroup,
  'AWS::EC2::SecurityGroupIngress': ingress,
};
