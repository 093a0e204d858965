/**
 * A table of Markdown with aligned columns, as the formatter of this repository leaves it. A pipe inside a cell must be
 * escaped by whoever writes the cell.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [line(head, ' '), line([], '-'), ...rows.map((cells) => line(cells, ' '))].join('\n');
}
