/** Findings of a linter against a table of those that were reviewed: nothing new passes, and no row outlives its finding. */

export interface Finding {
  readonly rule: string;
  /** What it was found at: a construct path, or a type and logical id. */
  readonly where: string;
  /** The linter's own words. */
  readonly what?: string;
}

export interface Reviewed {
  readonly rule: string;
  readonly where: RegExp;
  /** Why it stays. */
  readonly reason: string;
}

export interface Review {
  /** Findings that no row explains. */
  readonly unexplained: readonly string[];
  /** Rows that explain nothing any more. */
  readonly stale: readonly string[];
}

export function review(findings: readonly Finding[], table: readonly Reviewed[]): Review {
  const explains = (row: Reviewed, finding: Finding) => row.rule === finding.rule && row.where.test(finding.where);
  return {
    unexplained: findings
      .filter((finding) => !table.some((row) => explains(row, finding)))
      .map(({ rule, where, what }) => `${rule} at ${where}${what === undefined ? '' : `: ${what}`}`),
    stale: table
      .filter((row) => !findings.some((finding) => explains(row, finding)))
      .map(({ rule, where }) => `${rule} at ${where.source}`),
  };
}
