/** What a text of NAME=VALUE lines says. */
export interface IParameters {
  values: { [name: string]: string };
  /** One sentence for each line that cannot be used. */
  mistakes: string[];
}

/**
 * Read parameters, one NAME=VALUE a line; empty lines are skipped.
 *
 * A value is passed on exactly as typed: whether it fits the notebook's parameters cell, stray
 * spaces included, is for the server to say.
 */
export function parseParameters(text: string): IParameters {
  const values: { [name: string]: string } = {};
  const mistakes: string[] = [];
  text.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '') {
      return;
    }
    const equals = line.indexOf('=');
    const name = line.slice(0, Math.max(equals, 0));
    if (equals < 1) {
      mistakes.push(`Line ${index + 1} has no NAME=VALUE: ${line.trim()}`);
    } else if (name in values) {
      mistakes.push(`Line ${index + 1} names ${name} a second time.`);
    } else {
      values[name] = line.slice(equals + 1);
    }
  });
  return { values, mistakes };
}
