const base = require('@jupyterlab/testing/lib/jest-config')(__dirname);

// packages that ship ES modules only, which Jest has to translate
const esm = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@lumino',
  '@marijn',
  '@microsoft',
  '@rjsf',
  'exenv-es6',
  'lib0',
  'nanoid',
  'y-protocols',
  'yjs'
].join('|');

module.exports = {
  ...base,
  reporters: ['default'],
  testRegex: 'labextension/src/.*\\.spec\\.tsx?$',
  modulePathIgnorePatterns: ['<rootDir>/jupyter_clusterbridge/_lab', '<rootDir>/.venv'],
  transformIgnorePatterns: [`/node_modules/(?!(${esm})/)`]
};
