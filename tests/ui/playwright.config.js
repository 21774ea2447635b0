const { existsSync, mkdtempSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');

const root = resolve(__dirname, '../..');
const venv = join(root, '.venv/bin/python');
const python = process.env.CLUSTERBRIDGE_PYTHON ?? (existsSync(venv) ? venv : 'python3');
const port = Number(process.env.CLUSTERBRIDGE_UI_PORT ?? 8877);

// Playwright reads this file again in each worker: the first reader makes the folder, all share it
process.env.CLUSTERBRIDGE_UI_SCRATCH ??= mkdtempSync(join(tmpdir(), 'clusterbridge-ui-'));
const scratch = process.env.CLUSTERBRIDGE_UI_SCRATCH;

module.exports = {
  testDir: __dirname,
  testMatch: '*.spec.ts',
  globalTeardown: join(__dirname, 'teardown.js'),
  reporter: [['list']],
  outputDir: join(__dirname, 'test-results'),
  retries: 0,
  workers: 1,
  timeout: 60000,
  expect: { timeout: 15000 },
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    viewport: { width: 1440, height: 900 },
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  },
  webServer: {
    command: `exec '${python}' -m jupyterlab --config '${join(__dirname, 'server_config.py')}'`,
    cwd: scratch,
    url: `http://127.0.0.1:${port}/lab`,
    timeout: 120000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 10000 },
    env: {
      CLUSTERBRIDGE_UI_SCRATCH: scratch,
      CLUSTERBRIDGE_UI_PORT: String(port),
      JUPYTER_CONFIG_DIR: join(scratch, 'config'),
      JUPYTER_DATA_DIR: join(scratch, 'data'),
      JUPYTER_RUNTIME_DIR: join(scratch, 'runtime'),
      // the build in this tree wins over a copy that an install left in the environment
      JUPYTER_PREFER_ENV_PATH: '0',
      IPYTHONDIR: join(scratch, 'ipython')
    }
  }
};
