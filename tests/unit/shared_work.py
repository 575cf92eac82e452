"""Sets of files of tests, each of which one worker plays: two would do the same work twice.

The files of a set compile the same kernels, seconds each, or compose the same figures.
"""

TOGETHER = {
    "kernels": {
        *("test_algorithms", "test_audit", "test_audit_figures", "test_dp_ucb_int", "test_golden"),
        *("test_lanes", "test_many_runs", "test_realised_regret", "test_schemes"),
        "test_stopping_figures",
    },
    "figures": {
        *("test_bands_power", "test_captions", "test_changes", "test_check", "test_config"),
        *("test_drawn_is_the_table", "test_drawn_otherwise", "test_effect", "test_export"),
        *("test_judge_committed", "test_judge_table", "test_judge_verdicts", "test_listing"),
        *("test_missing_runs", "test_pictures_across", "test_pictures_azize"),
        *("test_pictures_azize2025", "test_pictures_sajed2019_wang2024", "test_pictures_tossou"),
        *("test_published", "test_readme", "test_references", "test_undrawable_texts"),
    },
}
SCOPES = {file: scope for scope, files in TOGETHER.items() for file in files}
