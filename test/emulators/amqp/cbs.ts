/** `$cbs`: clients put a token for each address before they use it. Any token is good, unless a fault refuses them. */
import { types } from 'rhea';
import type { AmqpFaults } from './faults';
import { type Route, SILENT_OUTLET } from './links';
import { answer, propertiesOf } from './requests';

const ADDRESS = '$cbs';

export interface PutToken {
  /** What it is for, such as `sb://host/hub/ConsumerGroups/group/Partitions/0`. */
  readonly audience: string;
  readonly type: string;
}

export function cbsRoute(faults: AmqpFaults, tokens: PutToken[]): Route {
  return {
    inlet(address, link) {
      if (address !== ADDRESS) return undefined;
      link.set_target({ address });
      return ({ connection, delivery, message }) => {
        delivery.accept();
        const { operation, name, type } = propertiesOf(message);
        if (operation === 'put-token') tokens.push({ audience: String(name), type: String(type) });
        const [code, description] = faults.refusesTokens ? [401, 'The token is refused'] : [202, 'Accepted'];
        answer(connection, message, {
          properties: { 'status-code': types.wrap_int(code), 'status-description': description },
        });
      };
    },
    outlet(address, link) {
      if (address !== ADDRESS) return undefined;
      link.set_source({ address });
      return SILENT_OUTLET;
    },
  };
}
