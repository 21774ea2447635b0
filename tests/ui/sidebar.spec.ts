import { expect, Page, test } from '@playwright/test';

/** Where pictures of the pages go, to be looked at. */
const PICTURES = `${__dirname}/screenshots`;

const SOURCES: [id: string, source: string][] = [
  ['load', '%load_ext clusterbridge'],
  ['parameters', 'EPOCHS = 3'],
  ['draw', 'import random\nvalue = random.random()'],
  ['show', 'print("drawn")']
];

function notebook(sources: [string, string][]) {
  return {
    cells: sources.map(([id, source]) => ({
      cell_type: 'code',
      id,
      metadata: id === 'parameters' ? { tags: ['parameters'] } : {},
      source,
      outputs: [],
      execution_count: null
    })),
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
    nbformat: 4,
    nbformat_minor: 5
  };
}

async function command(page: Page, id: string): Promise<void> {
  await page.evaluate(name => {
    // not awaited: a command that opens a dialog ends when the dialog does
    void (window as any).jupyterapp.commands.execute(name);
  }, id);
}

async function open(page: Page, name: string, content: unknown): Promise<void> {
  await page.request.put(`/api/contents/${name}`, { data: { type: 'notebook', content } });
  await page.goto(`/lab/tree/${name}?reset`);
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
  // the kernel's language goes into the notebook when it has answered, an unsaved change by itself
  await page.waitForFunction(() => {
    const panel = (window as any).jupyterapp.shell.currentWidget;
    return panel?.content?.model?.getMetadata('language_info')?.version !== undefined;
  });
  await command(page, 'clusterbridge:show');
}

/** Run one cell and wait until its prompt shows a number that it did not have before. */
async function run(page: Page, index: number): Promise<void> {
  const prompt = page.locator('.jp-NotebookPanel .jp-Cell').nth(index).locator('.jp-InputPrompt');
  const before = await prompt.textContent();
  await page.evaluate(async cell => {
    const app = (window as any).jupyterapp;
    app.shell.currentWidget.content.activeCellIndex = cell;
    await app.commands.execute('notebook:run-cell');
  }, index);
  await expect(prompt).toHaveText(/\[\d+\]:/);
  await expect(prompt).not.toHaveText(before ?? '');
}

test('a notebook is looked at, recorded, rerun and exported', async ({ page }) => {
  test.setTimeout(300000);
  await open(page, 'demo.ipynb', notebook(SOURCES));
  const sidebar = page.getByRole('region', { name: 'ClusterBridge' });
  const findings = sidebar.getByRole('region', { name: 'Findings' });
  const interventions = sidebar.getByRole('region', { name: 'Interventions' });

  // a finding, and a session that nobody records yet
  await expect(findings.getByRole('button').first()).toContainText('CB101');
  await expect(interventions).toContainText('This session is not recorded');
  await page.screenshot({ path: `${PICTURES}/1-not-recorded.png` });

  // a click shows the line
  await findings.getByRole('button').first().click();
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').nth(2)).toHaveClass(/jp-mod-active/);

  // recorded, nothing done by hand
  for (const index of [0, 1, 2, 3]) {
    await run(page, index);
  }
  await expect(interventions).toContainText('None: so far');

  // a rerun is an intervention
  await run(page, 2);
  await expect(interventions.getByRole('button').first()).toContainText('rerun');
  await expect(sidebar.getByRole('status')).toContainText('intervention');
  await page.screenshot({ path: `${PICTURES}/2-intervention.png` });

  // the export, by the toolbar's button
  await page
    .locator('.jp-NotebookPanel-toolbar')
    .getByRole('button', { name: 'Export to cluster job' })
    .click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('radio', { name: /^local/ })).toBeChecked();
  await page.screenshot({ path: `${PICTURES}/3-export-form.png` });

  await dialog.getByLabel('Parameters').fill('NO_SUCH=1');
  await dialog.getByRole('button', { name: 'Export' }).click();
  await expect(dialog.getByRole('alert')).toContainText('NO_SUCH', { timeout: 120000 });
  await expect(dialog.getByRole('alert')).toBeInViewport({ ratio: 1 });
  await page.screenshot({ path: `${PICTURES}/4-export-refused.png` });

  await dialog.getByLabel('Parameters').fill('');
  await dialog.getByRole('button', { name: 'Export' }).click();
  await expect(dialog.locator('.jp-ClusterBridge-folder')).toHaveText('demo-bundle', { timeout: 200000 });
  await page.screenshot({ path: `${PICTURES}/5-exported.png` });
  const bundle = await page.request.get('/api/contents/demo-bundle/bundle.json');
  expect(bundle.ok()).toBe(true);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(dialog).toBeHidden();
});

test('the sidebar follows the notebook in front and its saved file', async ({ page }) => {
  await open(page, 'clean.ipynb', notebook([['only', 'print(1)']]));
  const sidebar = page.getByRole('region', { name: 'ClusterBridge' });
  await expect(sidebar.getByRole('heading', { level: 2 })).toHaveText('clean.ipynb');
  await expect(sidebar).toContainText('No findings');

  await page.locator('.jp-NotebookPanel .jp-Cell .cm-content').first().click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('import random; random.random(); ');
  await expect(sidebar).toContainText('unsaved changes');
  await command(page, 'docmanager:save');
  await expect(sidebar).toContainText('CB101');
  await expect(sidebar).not.toContainText('unsaved changes');

  await command(page, 'application:close-all');
  await expect(sidebar).toContainText('Open a notebook');
  await page.screenshot({ path: `${PICTURES}/6-no-notebook.png` });
});

test('everything can be reached from the keyboard, in the dark theme too', async ({ page }) => {
  await open(page, 'keys.ipynb', notebook(SOURCES));
  await page.evaluate(() =>
    (window as any).jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })
  );
  const sidebar = page.getByRole('region', { name: 'ClusterBridge' });
  await expect(sidebar).toContainText('CB101');
  await sidebar.getByRole('button', { name: 'Refresh' }).focus();
  await page.keyboard.press('Tab');
  await expect(sidebar.getByRole('button', { name: 'Export to cluster job' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(sidebar.getByRole('button', { name: /CB101/ })).toBeFocused();
  await page.screenshot({ path: `${PICTURES}/7-dark.png` });
  await page.keyboard.press('Enter');
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').nth(2)).toHaveClass(/jp-mod-active/);

  await command(page, 'apputils:activate-command-palette');
  await page.locator('#modal-command-palette input').fill('cluster');
  for (const id of ['clusterbridge:show', 'clusterbridge:refresh', 'clusterbridge:export']) {
    await expect(page.locator(`#modal-command-palette [data-command="${id}"]`)).toBeVisible();
  }
  await page.keyboard.press('Escape');

  await command(page, 'clusterbridge:export');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Output folder')).toBeFocused();
  await page.screenshot({ path: `${PICTURES}/8-dark-form.png` });
  await page.keyboard.press('Tab');
  await expect(dialog.getByLabel('Parameters')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});
