/** Every status a ledger row can have. `charged` and `zero_amount` are absorbing, in SQL. */
export const ROW_STATUSES = [
  'pending',
  'charged',
  'processing',
  'card_declined',
  'action_required',
  'cap_blocked',
  'rejected',
  'zero_amount',
  'abandoned',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];
