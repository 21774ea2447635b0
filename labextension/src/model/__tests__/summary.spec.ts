import { check, finding } from '../../__tests__/samples';
import { bySeverity, place, summary } from '../summary';

describe('summary', () => {
  it('counts findings and interventions in words', () => {
    const findings = { value: [finding({ severity: 'error' }), finding()] };
    const state = { notebook: null, findings, check: { value: check() } };
    expect(summary(state)).toBe('1 error, 1 warning, 0 interventions');
  });

  it('claims no interventions when nothing was recorded', () => {
    const state = { notebook: null, findings: { value: [] }, check: { value: check({ recorded: false }) } };
    expect(summary(state)).toBe('0 errors, 0 warnings');
  });
});

describe('bySeverity', () => {
  it('puts the gravest first and keeps the order of the notebook', () => {
    const codes = bySeverity([
      finding({ code: 'C', severity: 'info', cell_index: 0 }),
      finding({ code: 'B', severity: 'error', cell_index: 4 }),
      finding({ code: 'A', severity: 'error', cell_index: 2 })
    ]).map(item => item.code);
    expect(codes).toEqual(['A', 'B', 'C']);
  });
});

describe('place', () => {
  it('names the cell and the line', () => {
    expect(place(3, 2)).toBe('cell 3, line 2');
    expect(place(3, null)).toBe('cell 3');
    expect(place(null, null)).toBe('');
  });
});
