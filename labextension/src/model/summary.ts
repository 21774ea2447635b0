import type { IFinding } from '../api/types';
import type { IReadiness } from './readiness';

const RANK: Record<IFinding['severity'], number> = { error: 0, warning: 1, info: 2 };

/** Findings with the gravest first, then in the order of the notebook. */
export function bySeverity(findings: readonly IFinding[]): IFinding[] {
  return [...findings].sort(
    (a, b) =>
      RANK[a.severity] - RANK[b.severity] ||
      (a.cell_index ?? -1) - (b.cell_index ?? -1) ||
      (a.line ?? 0) - (b.line ?? 0)
  );
}

/** A count with its word: "1 error", "2 errors". */
export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** The counts of a notebook in one line; what is not known is left out. */
export function summary(state: IReadiness): string {
  const parts: string[] = [];
  if (state.findings !== null && 'value' in state.findings) {
    const findings = state.findings.value;
    const of = (severity: IFinding['severity']) =>
      findings.filter(finding => finding.severity === severity).length;
    parts.push(count(of('error'), 'error'), count(of('warning'), 'warning'));
    if (of('info') > 0) {
      parts.push(count(of('info'), 'note'));
    }
  }
  if (state.check !== null && 'value' in state.check && state.check.value.recorded) {
    parts.push(count(state.check.value.interventions.length, 'intervention'));
  }
  return parts.join(', ');
}

/** A place in a notebook in words, with the numbers that the command line uses; empty for none. */
export function place(cellIndex: number | null, line: number | null): string {
  if (cellIndex === null) {
    return '';
  }
  return line === null ? `cell ${cellIndex}` : `cell ${cellIndex}, line ${line}`;
}
