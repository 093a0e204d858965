/** The AMQP library, loaded with the first broker and not before: who tests against Stripe alone needs none. */
import { peer } from '../peer';

type Library = typeof import('rhea');

export const rhea = (): Library => peer('rhea', 'startAmqpBroker', () => require('rhea') as Library);
