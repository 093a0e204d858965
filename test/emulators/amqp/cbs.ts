/** `$cbs`: clients put a token for each address before they use it. */
import type { Connection } from 'rhea';
import type { Access } from './access';
import type { AmqpMessage } from './event-log';
import type { AmqpFaults } from './faults';
import { type Route, SILENT_OUTLET } from './links';
import { answer, propertiesOf } from './requests';
import { rhea } from './rhea';

export const CBS = '$cbs';

export function cbsRoute(faults: AmqpFaults, access: Access): Route {
  const status = async (connection: Connection, message: AmqpMessage): Promise<[code: number, words: string]> => {
    const { operation, name, type } = propertiesOf(message);
    if (operation !== 'put-token') return [400, `${operation} is not an operation here.`];
    const put = { audience: String(name), type: String(type), token: String(message.body) };
    const good = await access.put(connection, put);
    return good && !faults.refusesTokens ? [202, 'Accepted'] : [401, 'InvalidSignature: The token is refused.'];
  };
  return {
    inlet(address, link) {
      if (address !== CBS) return undefined;
      link.set_target({ address });
      return ({ connection, delivery, message }) => {
        delivery.accept();
        void status(connection, message).then(([code, words]) => {
          const properties = { 'status-code': rhea().types.wrap_int(code), 'status-description': words };
          answer(connection, message, { properties });
        });
      };
    },
    outlet(address, link) {
      if (address !== CBS) return undefined;
      link.set_source({ address });
      return SILENT_OUTLET;
    },
  };
}
