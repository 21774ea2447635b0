import { parseParameters } from '../parameters';

describe('parseParameters', () => {
  it('reads one NAME=VALUE a line and skips empty lines', () => {
    expect(parseParameters('EPOCHS=10\n\nNAME=a=b\r\nEMPTY=')).toEqual({
      values: { EPOCHS: '10', NAME: 'a=b', EMPTY: '' },
      mistakes: []
    });
  });

  it('passes stray spaces on, since the server decides about them', () => {
    expect(parseParameters('EPOCHS= 10').values).toEqual({ EPOCHS: ' 10' });
  });

  it('names each line that it cannot use', () => {
    const { mistakes } = parseParameters('EPOCHS\n=3\nA=1\nA=2');
    expect(mistakes).toEqual([
      'Line 1 has no NAME=VALUE: EPOCHS',
      'Line 2 has no NAME=VALUE: =3',
      'Line 4 names A a second time.'
    ]);
  });
});
