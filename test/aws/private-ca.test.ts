/** A private CA (an own PostgreSQL, RDS in China's regions) is one setting; who migrates needs it as who charges does. */
import { describe, expect, it } from 'vitest';
import { Migrations } from '../../constructs/aws';
import { consumerStack, container } from './stack';

const environment = { PGSSLROOTCERT: '/etc/ssl/china.pem', LOG_LEVEL: 'debug' };

describe.each([Migrations.AT_START, Migrations.MANUAL])('PGSSLROOTCERT with migrations %s', (migrations) => {
  const { stack } = consumerStack((props) => ({ ...props, environment, migrations }));

  it.each(['worker', 'migrate', 'ops'] as const)('reaches the container %s', (name) => {
    expect(container(stack, name).environment.PGSSLROOTCERT).toBe('/etc/ssl/china.pem');
  });

  it('comes alone: the other settings are for those who charge', () => {
    expect(container(stack, 'migrate').environment).not.toHaveProperty('LOG_LEVEL');
  });
});
