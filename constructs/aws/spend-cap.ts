import { ENVIRONMENT } from '../../runtime/contract';
import { type AmountsByCurrency, spendCapSetting } from '../shared/spend-cap-setting';

/** The most that one billing period may cost. Must be said: there is no default. */
export class SpendCap {
  /**
   * A cap on each billing period, kept in the ledger. A charge that would exceed it is not made; its row waits
   * as `cap_blocked`.
   *
   * @param amounts minor units by currency, as in `{ usd: 50_000_00 }`; a charge in a currency that is not named is blocked
   * @throws when an amount is no positive integer or a currency is not three letters
   */
  static perPeriod(amounts: AmountsByCurrency): SpendCap {
    return new SpendCap({
      [ENVIRONMENT.SPEND_CAP_MODE]: 'ledger',
      [ENVIRONMENT.SPEND_CAP_DEFAULT]: spendCapSetting(amounts),
    });
  }

  /** No cap at all: a wrong amount in an event becomes a wrong amount on a card. */
  static off(): SpendCap {
    return new SpendCap({ [ENVIRONMENT.SPEND_CAP_MODE]: 'off' });
  }

  private constructor(
    /** The runtime's settings. */
    readonly environment: Readonly<Record<string, string>>,
  ) {}
}
